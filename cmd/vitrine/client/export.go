package client

import (
	"context"
	"net/http"
	"regexp"

	"vitrine/shared/platform/contract"
)

const exportPath = "/v1/web/workspace/export"

// RequestExport asks for an export of the workspace. It returns the existing one if one is being made.
func (m *Member) RequestExport(ctx context.Context, idem string) (contract.Export, error) {
	k := m.call(http.MethodPost, exportPath)
	k.idem = idem
	e, err := m.export(ctx, k)
	if err == nil && e == nil {
		return contract.Export{}, m.caller.badResponse(m.Hosts.APIURL, "it asked for an export and has none")
	}
	if err != nil {
		return contract.Export{}, err
	}
	return *e, nil
}

// Export returns the newest export of the workspace, nil if there is none.
func (m *Member) Export(ctx context.Context) (*contract.Export, error) {
	return m.export(ctx, m.call(http.MethodGet, exportPath))
}

// volumeForm matches the name of an archive. Such a name can neither lead to another folder nor be hidden.
var volumeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.zip$`)

// export makes a call and checks the names of the archives, because they are saved under these names.
func (m *Member) export(ctx context.Context, k call) (*contract.Export, error) {
	var out contract.ExportStatus
	if err := m.caller.do(ctx, k, &out); err != nil {
		return nil, err
	}
	if out.Export == nil {
		return nil, nil
	}
	_, err := out.Export.ID.Bits()
	names := map[string]bool{}
	for _, v := range out.Export.Volumes {
		names[v.FileName] = volumeForm.MatchString(v.FileName)
	}
	if err != nil || len(names) != len(out.Export.Volumes) {
		return nil, m.caller.badResponse(m.Hosts.APIURL, "the export is malformed")
	}
	for _, safe := range names {
		if !safe {
			return nil, m.caller.badResponse(m.Hosts.APIURL, "an archive of the export has a name that is no file name")
		}
	}
	return out.Export, nil
}
