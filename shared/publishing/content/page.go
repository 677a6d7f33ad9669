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
	if err != nil {
		return Page{}, Refused{}
	}
	if path != "" && tree.CheckStoredPath(path) != nil {
		return Page{}, readaccess.NotFound()
	}
	query := readaccess.QueryOf(claims)
	state, _, files, err := r.load(ctx, query, claims)
	if err = cmp.Or(err, files.err); err != nil {
		return Page{}, err
	}
	f, ok := files.tree.Find(path)
	if !ok && !files.tree.HasFolder(path) {
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

// Missing is the refusal of a path that the revision has no file at. It says what a web server would show there.
type Missing struct {
	Page   string // path of the index of the folder, or of the page whose extension is left out; empty: none
	Folder bool   // there is no page, but files lie below the path
}

// Error implements error.
func (m Missing) Error() string { return "the revision has no such file" }

// Unwrap returns not_found.
func (m Missing) Unwrap() error { return readaccess.NotFound() }

// missing makes the refusal of a path, with or without a slash at its end.
func missing(files tree.Tree, asked string) Missing {
	if page := files.Page(asked); page != "" {
		return Missing{Page: page}
	}
	return Missing{Folder: files.HasFolder(strings.TrimSuffix(asked, "/"))}
}
