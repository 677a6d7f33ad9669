package client

import (
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// maxReads is how often the pages of a view are read from the first one on. A server refuses the cursor of a revision
// that is no longer the one to show.
const maxReads = 3

// allFiles returns a view with the files of all of its pages. It calls read with "" for the first page, and with the
// cursor of each page for the next one.
func (d *Deployment) allFiles(
	read func(cursor string) (contract.PublicAgentView, error),
) (v contract.PublicAgentView, err error) {
	for try := 1; ; try++ {
		if v, err = read(""); err != nil || v.FilesNextCursor == "" {
			return v, err
		}
		for err == nil && v.FilesNextCursor != "" {
			err = d.addPage(&v, read)
		}
		if err == nil {
			return v, d.checkFiles(v)
		}
		if failure.Of(err).Code != fault.InvalidRequest || try == maxReads {
			return v, err
		}
	}
}

// addPage adds the files of the next page to a view.
func (d *Deployment) addPage(
	v *contract.PublicAgentView,
	read func(cursor string) (contract.PublicAgentView, error),
) error {
	page, err := read(v.FilesNextCursor)
	switch {
	case err != nil:
		return err
	case page.RevisionID != v.RevisionID:
		return d.caller.badResponse(d.Hosts.APIURL, "a page of the files is of another revision")
	case page.FilesNextCursor == v.FilesNextCursor, len(v.Files)+len(page.Files) > v.FilesTotal:
		return d.caller.badResponse(d.Hosts.APIURL, "the pages have more files than the revision")
	}
	v.Files = append(v.Files, page.Files...)
	v.FilesNextCursor = page.FilesNextCursor
	return nil
}

// checkFiles refuses pages that do not have each file of the revision once, because a publish would delete the others.
func (d *Deployment) checkFiles(v contract.PublicAgentView) error {
	paths := make(map[string]bool, len(v.Files))
	for _, f := range v.Files {
		paths[f.Path] = true
	}
	if len(paths) != v.FilesTotal || len(v.Files) != v.FilesTotal {
		return d.caller.badResponse(d.Hosts.APIURL, "the pages do not have each file of the revision once")
	}
	return nil
}
