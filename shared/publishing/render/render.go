// Package render makes inert pages of the files of a revision: HTML in which all published markup has passed one closed
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

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// Beyond their maxima pages show less and say so; the raw file is always one click away.
const (
	maxPageTime = 7 * time.Second // how long a view may take before the page shows the text instead
	maxPage     = 12 << 20        // bytes of HTML, after which a view stops
)

// Source is the source of a page.
type Source struct {
	// Path is that of a file, or of a folder without a trailing slash. Empty means the whole revision.
	Path string
	// File is the file at Path, zero for a folder.
	File tree.File
	// Files are all files of the revision.
	Files tree.Tree
	// Artifact and Workspace are the ones whose share of the renderer the page takes.
	Artifact  id.Artifact
	Workspace id.Workspace
	// Pages and Raw are the URL prefixes of the pages and the bytes of files, with a trailing slash. An escaped path
	// follows.
	Pages, Raw string
	// App is the origin of the app host, from which pages load programs and a font.
	App string
	// Framed makes a page for a viewer frame. Such a page tells the viewer its height.
	Framed bool
	// Open reads the first size bytes of the file.
	Open func(ctx context.Context, size int64) (io.ReadCloser, error)

	paths map[string]bool // of files and folders, in views that resolve links
}

// folder reports whether the source is a folder.
func (s Source) folder() bool { return s.File.Path == "" }

// Renderer makes pages. It bounds what they take at once, including views that go on after their readers have left.
type Renderer struct {
	// Panicked is called for a view that panicked. text may quote the file. If it is nil, panics are not reported.
	Panicked func(view media.View, text string)

	admission *admission
}

// New returns a renderer.
func New() *Renderer { return &Renderer{admission: newAdmission()} }

// Query has the choices of the reader of a page.
type Query struct {
	// Sort is the number of the column by which a table is sorted, from 1, followed by d for descending, as in 3d. Any
	// other value is ignored.
	Sort string
	// Page is the number of the page of a long folder, from 1. Any other value is ignored.
	Page string
}

// body is the part of a page that a view makes.
type body struct {
	out      strings.Builder // HTML that is not sanitised yet
	notes    []string        // sentences about what the page leaves out
	raw      bool            // the notes link to the raw file
	formulas *formulas       // of Markdown; nil: the view has none
	diagrams int             // of Markdown
	eager    int             // images that load at once
	runner   *Runner         // nil: the page runs no program
}

func (b *body) printf(format string, a ...any) { fmt.Fprintf(&b.out, format, a...) }

// note adds a sentence about something that the page leaves out and the raw file has.
func (b *body) note(format string, a ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, a...))
	b.raw = true
}

// full reports whether the page has reached its largest length.
func (b *body) full() bool { return b.out.Len() > maxPage }

// errFailed marks a view that cannot show a file. The page then shows the text of the file.
var errFailed = errors.New("cannot be rendered")

// The kinds of errFailed for a view that panicked, and for one that was not started.
var (
	errPanicked = fmt.Errorf("%w: the viewer failed", errFailed)
	errCrowded  = fmt.Errorf("%w: other files take too long", errFailed)
)

// Page writes the page of a file or a folder. If the view fails, the page shows the file as text, with a sentence that
// says so. The error is that of reading the file or of writing the page, or rate_limited_artifact if too many pages are
// being made.
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

// build makes the body of a page. It makes that of the text if the view fails or does not end before limited does.
func (r *Renderer) build(ctx, limited context.Context, held *reservation, q Query) (*body, error) {
	s, view := held.of, held.of.view()
	b, err := r.try(limited, held, view, q)
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errRead):
		return nil, err
	case ctx.Err() != nil: // ctx and not limited: the reader went away
		return nil, ctx.Err()
	}
	plain := new(body)
	plain.note("This file cannot be shown as %s (%s), so this is its text.", view, reason(err))
	if err := s.plain(ctx, plain); err != nil {
		return nil, err
	}
	return plain, plain.sanitise()
}

// try runs a view until it ends or ctx does. A view that does not end in time goes on without a reader, because it
// cannot be stopped.
func (r *Renderer) try(ctx context.Context, held *reservation, view media.View, q Query) (*body, error) {
	if views[view].weight > 0 && held.textOnly {
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

// run makes the body of a page with a view. A panic of the view is errPanicked.
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
	if err := views[view].show(ctx, s, b, q); err != nil {
		return nil, err
	}
	return b, b.sanitise()
}

// viewer is how a view shows files.
type viewer struct {
	// show makes the body of a page. It reads at most the bytes of its limit.
	show func(context.Context, Source, *body, Query) error
	// weight is how many bytes of memory show needs for each byte of a file, and most how many bytes it reads. A viewer
	// without a weight does not parse the file. Each weight is above the highest ratio of live heap to bytes that was
	// measured, with the collector at 10 % and a sample each millisecond, for prose, lists of a letter, tables of letters,
	// code, coloured logs, cells of 1 KB, numbers in JSON and YAML, and notebooks of texts and images.
	weight, most int64
	// version counts how often the body of the pages has changed its look.
	version int
}

// views are the viewers of all views. The file of a viewer adds it.
var views = map[media.View]viewer{}

// sharedVersion counts how often the markup around the body has changed.
const sharedVersion = 4

// Version returns the part of a page's entity tag that changes whenever the page looks different, so that no browser
// goes on showing an old one. A test enforces that. The path is that of the file, empty for a folder.
func Version(file string) string {
	view := viewOf(file)
	return fmt.Sprintf("%d %s %d %s", sharedVersion, view, views[view].version, StyleHash(file))
}

// view returns the view that shows the source.
func (s Source) view() media.View { return viewOf(s.File.Path) }

func viewOf(file string) media.View {
	if file == "" {
		return media.DirectoryView
	}
	return media.ViewOf(file)
}

// reason returns in a few words why a view failed.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it takes too long"
	}
	return strings.TrimPrefix(err.Error(), errFailed.Error()+": ")
}

// errRead marks a file that cannot be read.
var errRead = errors.New("cannot be read")

// read reads at most the first most bytes of the file.
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

// open opens at most the first most bytes of the file.
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
