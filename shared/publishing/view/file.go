package view

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Bytes reads files from the object store.
type Bytes interface {
	// Open reads size bytes of an object from an offset. A missing object is not_found, any other failure
	// storage_unavailable.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
}

// FileText is a file with its text.
type FileText struct {
	tree.File
	Binary bool    // not text; of a file that was not read, judged by its name
	Text   *string // nil: not text, or larger than limits.InlineAnswer
}

// File returns one file to its owner, with its text. An empty r means the current revision. An unreadable artifact,
// revision or file is not_found.
func (s *Service) File(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
) (FileText, error) {
	f, err := s.find(ctx, by, a, r, path)
	if err != nil {
		return FileText{}, err
	}
	return s.inline(ctx, a, f)
}

// Content returns the bytes of a file of the current revision to its owner, nil if there are more than most. Refusals
// are those of File.
func (s *Service) Content(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, path string, most int64,
) ([]byte, error) {
	_, body, err := s.Source(ctx, by, a, "", path, func(size int64) bool { return size <= most })
	return body, err
}

// Source returns a file to its owner, with its bytes if they are wanted for its size. An empty r means the current
// revision. Refusals are those of File.
func (s *Service) Source(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string, wanted func(int64) bool,
) (f tree.File, body []byte, err error) {
	if f, err = s.find(ctx, by, a, r, path); err != nil || !wanted(f.Size) {
		return f, nil, err
	}
	text, err := s.readText(ctx, a, f)
	if err != nil {
		return f, nil, err
	}
	return f, []byte(text), nil
}

// find returns a file of a revision that the caller may read.
func (s *Service) find(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
) (tree.File, error) {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return tree.File{}, notFound()
	}
	if r == "" {
		r = a.Current
	}
	if _, err := r.Bits(); err != nil {
		return tree.File{}, notFound()
	}
	if err := readaccess.CheckRevision(ctx, s.Store, a, r); err != nil {
		return tree.File{}, err
	}
	c, err := s.files(ctx, a.ID, r)
	if err != nil {
		return tree.File{}, err
	}
	if c == nil {
		return tree.File{}, notFound()
	}
	f, ok := c.Tree.Find(path)
	if !ok {
		return tree.File{}, fault.New(fault.NotFound,
			"no such file in this revision; the agent view lists its files")
	}
	return f, nil
}

// FileURL returns the signed URL of the file that File returns for the same arguments.
func (s *Service) FileURL(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
) (string, error) {
	if r == "" && a != nil {
		r = a.Current
	}
	build, err := s.FileURLs(by, a, r)
	if err != nil {
		return "", err
	}
	c, err := s.files(ctx, a.ID, r)
	if err != nil {
		return "", err
	}
	if c == nil {
		return "", notFound()
	}
	return build(path), nil
}

// FileURLs returns a function that builds signed URLs of files of a published revision of the caller's workspace. It
// makes no read, so that the URL of a path that the revision lacks is not_found.
func (s *Service) FileURLs(
	by credential.Actor, a *artifact.Artifact, r id.Revision,
) (func(path string) string, error) {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID {
		return nil, notFound()
	}
	prefix, err := s.Addresses.Content(s.claims(&by.Workspace, a, r, ""))
	return func(path string) string { return prefix + address.Escape(path) }, err
}

// inline returns a file with its text, if it is text and short enough for an answer.
func (s *Service) inline(ctx context.Context, a *artifact.Artifact, f tree.File) (FileText, error) {
	out := FileText{File: f, Binary: !strings.HasPrefix(media.Of(f.Path).ContentType, "text/")}
	if f.Size > limits.InlineAnswer {
		return out, nil
	}
	text, err := s.readText(ctx, a, f)
	if err != nil {
		return FileText{}, err
	}
	if out.Binary = !utf8.ValidString(text); !out.Binary {
		out.Text = &text
	}
	return out, nil
}

// readText reads a whole file and checks its digest.
func (s *Service) readText(ctx context.Context, a *artifact.Artifact, f tree.File) (string, error) {
	if f.Size == 0 {
		return "", nil
	}
	body, err := s.Bytes.Open(ctx, a.StorageWorkspace, f.Object, 0, f.Size)
	if fault.KindOf(err) == fault.KindNotFound {
		return "", notFound()
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	return f.ReadAll(body)
}
