package content

import (
	"cmp"
	"context"
	"strings"

	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Page is the source of a page: a file or a folder that may be read now, and all files of its revision.
type Page struct {
	// File is the file. It has no path if the page shows a folder.
	File
	Path  string // of the file or folder; empty: the whole revision
	Files tree.Tree
}

// FindPage checks a token and finds the file or folder at a path, under the checks, limits and refusals of Find.
func (r *Reader) FindPage(ctx context.Context, text, path string) (Page, error) {
	claims, err := r.Tokens.Parse(text, r.Now())
	if err != nil || path != "" && tree.CheckStoredPath(path) != nil {
		return Page{}, readaccess.NotFound()
	}
	query := readaccess.QueryOf(claims)
	state, _, files, err := r.load(ctx, query, claims)
	if err = cmp.Or(err, files.err); err != nil {
		return Page{}, err
	}
	f, ok := files.tree.Find(path)
	if !ok && !isFolder(files.tree, path) {
		return Page{}, readaccess.NotFound()
	}
	claimed := !state.Workspace.ClaimedAt.IsZero()
	return Page{
		Path:  path,
		Files: files.tree,
		File: File{
			File:      f,
			Workspace: state.Workspace.ID,
			Artifact:  claims.Artifact,
			Revision:  claims.Revision,
			home:      state.Artifact.StorageWorkspace,
			NoIndex:   claims.NoIndex && !claimed,
		},
	}, nil
}

// isFolder reports whether files lie below a path.
func isFolder(files tree.Tree, path string) bool {
	for _, f := range files {
		if path == "" || strings.HasPrefix(f.Path, path+"/") {
			return true
		}
	}
	return false
}
