package blob

import (
	"context"
	"fmt"
	"io"

	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/sweep"
)

var (
	_ sweep.ExportBytes     = (*Store)(nil)
	_ sweep.ExportDeletions = (*Store)(nil)
)

// exportKey returns the name of an archive of an export: x/{workspace}/{export}/{volume}.zip. The keys of all exports
// of a workspace begin with x/{workspace}/.
func exportKey(o export.Object) (string, error) {
	_, err1 := o.Workspace.Bits()
	_, err2 := o.Export.Bits()
	if err1 != nil || err2 != nil || o.Volume < 1 || o.Volume > limits.ExportVolumes+1 {
		return "", fmt.Errorf("no archive has the workspace %q, the export %q and the number %d", o.Workspace, o.Export, o.Volume)
	}
	return fmt.Sprintf("%s%s/%s/%04d.zip", exportPrefix, o.Workspace, o.Export, o.Volume), nil
}

// WriteExport implements sweep.ExportBytes.
func (s *Store) WriteExport(ctx context.Context, o export.Object, write func(io.Writer) error) error {
	name, err := exportKey(o)
	if err != nil {
		return err
	}
	return s.writeArchive(ctx, name, write)
}

// OpenExport implements content.Bytes.
func (s *Store) OpenExport(ctx context.Context, o export.Object, offset, size int64) (io.ReadCloser, error) {
	name, err := exportKey(o)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, name, offset, size)
}

// DeleteExports implements sweep.ExportDeletions.
func (s *Store) DeleteExports(ctx context.Context, archives []export.Object) error {
	return removeArchives(ctx, s, archives, exportKey)
}
