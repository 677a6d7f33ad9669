// Package render makes inert pages of the files of a revision: HTML in which strangers' markup has passed one closed
// list of elements and attributes, and whose only scripts are our own.
package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// Version is part of the entity tag of every page. It changes with what pages look like, so that no browser goes on
// showing an old one; a test holds it.
const Version = "4"

// Beyond their maxima pages show less and say so; the raw file is always one click away.
const (
	maxPageTime = 7 * time.Second // how long a view may take before the page shows the text instead
	maxPage     = 12 << 20        // bytes of HTML, after which a view stops
)

// Source is what a page is made of.
type Source struct {
	// Path is that of a file, or of a folder without its trailing slash; empty: the whole revision.
	Path string
	// File is the file at Path; its zero value for a folder.
	File tree.File
	// Files are all files of the revision.
	Files tree.Tree
	// Artifact and Workspace are whose share of the renderer the page takes.
	Artifact  id.Artifact
	Workspace id.Workspace
	// Pages and Raw are the URLs under which the pages and the bytes of files lie, with a trailing slash: append an
	// escaped path.
	Pages, Raw string
	// App is the origin of the app host, from which pages load programs and a font.
	App string
	// Framed makes a page for a viewer frame, which it tells its height.
	Framed bool
	// Open reads the first size bytes of the file.
	Open func(ctx context.Context, size int64) (io.ReadCloser, error)

	paths map[string]bool // of files and folders, in views that resolve links
}

// folder reports whether the source is a folder.
func (s Source) folder() bool { return s.File.Path == "" }

// Renderer makes pages. It bounds what they take at once, views included that take too long for their readers.
type Renderer struct {
	// Panicked is told of a view that panicked; its text may quote the file. nil: panics are not reported.
	Panicked func(view media.View, text string)

	admission *admission
}

// New returns a renderer.
func New() *Renderer { return &Renderer{admission: newAdmission()} }

// Query is what the reader of a page chose.
type Query struct {
	// Sort is the column that a table is sorted by, counted from 1, and d for descending: 3d. Any other value is ignored.
	Sort string
}

// body is what a view adds to the page around it.
type body struct {
	out      strings.Builder // HTML that has not been sanitised yet
	notes    []string        // sentences about what the page leaves out
	raw      bool            // the notes name the raw file
	formulas *formulas       // of Markdown; nil: the view has none
	diagrams int             // of Markdown
	runner   *Runner         // nil: the page runs nothing
}

func (b *body) printf(format string, a ...any) { fmt.Fprintf(&b.out, format, a...) }

// note says that something is left out, and that the raw file has it.
func (b *body) note(format string, a ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, a...))
	b.raw = true
}

// full reports whether a page is as long as pages get.
func (b *body) full() bool { return b.out.Len() > maxPage }

// errFailed marks a view that cannot show a file; the page then shows its text.
var errFailed = errors.New("cannot be rendered")

// What errFailed is for a view that panicked, and for one that is not started.
var (
	errPanicked = fmt.Errorf("%w: the viewer failed", errFailed)
	errCrowded  = fmt.Errorf("%w: other files take too long", errFailed)
)

// Page writes the page of a file or a folder. What a view fails to show, is shown as text with a sentence that says so.
// The error is that of reading the file or of writing the page, rate_limited_artifact if too many pages are being made.
func (r *Renderer) Page(ctx context.Context, w io.Writer, s Source, q Query) error {
	limited, cancel := context.WithTimeout(ctx, maxPageTime)
	defer cancel()
	held, err := r.admission.reserve(limited, s)
	if err != nil {
		return err
	}
	defer held.set(&held.reader, false)
	b, err := r.build(ctx, limited, held, q)
	if err != nil {
		return err
	}
	return s.write(w, b)
}

// build makes the body of a page, that of the text if the view fails or does not end before limited does.
func (r *Renderer) build(ctx, limited context.Context, held *reservation, q Query) (*body, error) {
	s, view := held.of, held.of.view()
	b, err := r.try(limited, held, view, q)
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errRead):
		return nil, err
	case ctx.Err() != nil: // the reader went away
		return nil, ctx.Err()
	}
	plain := new(body)
	plain.note("This file cannot be shown as %s (%s), so this is its text.", view, reason(err))
	if err := s.plain(ctx, plain); err != nil {
		return nil, err
	}
	return plain, plain.sanitise()
}

// try runs a view until it ends or the time is over. One that does not end in time goes on without a reader.
func (r *Renderer) try(ctx context.Context, held *reservation, view media.View, q Query) (*body, error) {
	if _, parses := weights[view]; parses && held.textOnly {
		return nil, errCrowded
	}
	type result struct {
		b   *body
		err error
	}
	done := make(chan result, 1)
	held.set(&held.running, true)
	go func() {
		b, err := r.run(ctx, held.of, view, q)
		held.set(&held.running, false)
		done <- result{b, err}
	}()
	select {
	case got := <-done:
		return got.b, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run makes the body of a page by a view.
func (r *Renderer) run(ctx context.Context, s Source, view media.View, q Query) (b *body, err error) {
	defer func() {
		if v := recover(); v != nil {
			if r.Panicked != nil {
				r.Panicked(view, fmt.Sprintf("%v\n%s", v, debug.Stack()))
			}
			err = errPanicked
		}
	}()
	b = new(body)
	if err := views[view](ctx, s, b, q); err != nil {
		return nil, err
	}
	return b, b.sanitise()
}

// views make the bodies. Each reads at most what its limit says.
var views map[media.View]func(context.Context, Source, *body, Query) error

func init() {
	views = map[media.View]func(context.Context, Source, *body, Query) error{
		media.MarkdownView:  markdownView,
		media.CodeView:      codeView,
		media.LogView:       logView,
		media.TableView:     tableView,
		media.DataView:      dataView,
		media.NotebookView:  notebookView,
		media.PatchView:     patchView,
		media.ImageView:     imageView,
		media.AudioView:     audioView,
		media.VideoView:     videoView,
		media.PDFView:       pdfView,
		media.DirectoryView: folderView,
		media.NoView:        unknownView,
	}
}

// unknownView shows a file whose path does not tell what it is: as code if it is text.
func unknownView(ctx context.Context, s Source, b *body, q Query) error {
	head, err := s.read(ctx, sniffedBytes)
	if err != nil {
		return err
	}
	if !isText(string(head)) || !utf8.Valid(trimRune(head)) {
		b.note("Files of this kind are not shown here.")
		return nil
	}
	return codeView(ctx, s, b, q)
}

// view returns how a page shows the source.
func (s Source) view() media.View {
	if s.folder() {
		return media.DirectoryView
	}
	return media.ViewOf(s.Path)
}

// reason says in a few words why a view failed.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it takes too long"
	}
	return strings.TrimPrefix(err.Error(), errFailed.Error()+": ")
}

// errRead marks a file that cannot be read.
var errRead = errors.New("cannot be read")

// read reads the first bytes of the file, all of it if it has no more than most.
func (s Source) read(ctx context.Context, most int64) ([]byte, error) {
	r, err := s.open(ctx, most)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRead, err)
	}
	return text, nil
}

// open opens the first bytes of the file.
func (s Source) open(ctx context.Context, most int64) (io.ReadCloser, error) {
	size := min(most, s.File.Size)
	if size == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	r, err := s.Open(ctx, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRead, err)
	}
	return r, nil
}
