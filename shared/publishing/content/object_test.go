package content

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// read finds the file of the fakes and reads size bytes of it from an offset.
func (e *env) read(t *testing.T, offset, size int64) (string, error) {
	t.Helper()
	f, err := e.find(t, "a/b.txt")
	if err != nil {
		return "", err
	}
	body, err := e.Open(t.Context(), f, netip.Addr{}, offset, size)
	if err != nil {
		return "", err
	}
	defer body.Close()
	b, err := io.ReadAll(body)
	return string(b), err
}

func wantText(t *testing.T, e *env, want string) {
	t.Helper()
	got, err := e.read(t, 0, int64(len(text)))
	if err != nil || got != want {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
}

func TestTheBytesOfAFileAreReadOnceAndItsStateEachTime(t *testing.T) {
	e := newEnv(t)
	for _, part := range []struct{ offset, size int64 }{{2, 3}, {0, 7}, {6, 1}, {7, 0}, {0, 0}} {
		got, err := e.read(t, part.offset, part.size)
		if want := text[part.offset : part.offset+part.size]; err != nil || got != want {
			t.Errorf("%+v: %q, %v, want %q", part, got, err, want)
		}
	}
	if e.bytes.opened != 1 || e.bytes.closed != 1 || e.bytes.size != int64(len(text)) || e.store.states != 5 {
		t.Errorf("%d objects, closed %d times, and %d states are read", e.bytes.opened, e.bytes.closed, e.store.states)
	}
}

func TestAPartBeyondTheFileIsRefused(t *testing.T) {
	e := newEnv(t)
	for _, part := range []struct{ offset, size int64 }{{0, 8}, {7, 1}, {8, 0}, {-1, 2}, {3, -1}, {1 << 62, 1 << 62}} {
		_, err := e.read(t, part.offset, part.size)
		expect.Code(t, err, fault.Internal)
	}
	if e.bytes.opened > 0 {
		t.Error("the object is read")
	}
}

func TestOnlySmallFilesAreKeptInMemory(t *testing.T) {
	for size, opened := range map[int]int{maxCachedFile: 1, maxCachedFile + 1: 2} {
		e := newEnv(t)
		long := strings.Repeat("x", size)
		e.bytes.body = func() io.Reader { return strings.NewReader(long) }
		e.store.tree[0].Size, e.store.tree[0].SHA256 = int64(size), tree.DigestOf(long)
		for range 2 {
			if got, err := e.read(t, 0, int64(size)); got != long || err != nil {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
		if e.bytes.opened != opened {
			t.Errorf("an object of %d bytes is read %d times, want %d", size, e.bytes.opened, opened)
		}
	}
}

func body(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }

// broken makes bodies that fail within the file.
func broken(err error) func() io.Reader {
	return func() io.Reader { return io.MultiReader(strings.NewReader("con"), iotest.ErrReader(err)) }
}

// TestF63WrongBytesAreNeitherServedNorKept lets the object store answer something else first, and then what it should.
func TestF63WrongBytesAreNeitherServedNorKept(t *testing.T) {
	failing := fault.Wrap(fault.StorageUnavailable, errors.New("reset"), "the file store does not answer")
	for name, c := range map[string]struct {
		body func() io.Reader
		err  error
		want fault.Code
	}{
		"other bytes":            {body("CONTENT"), nil, fault.StorageUnavailable},
		"too few bytes":          {body("conte"), nil, fault.StorageUnavailable},
		"too many bytes":         {body("contents"), nil, fault.StorageUnavailable},
		"no bytes":               {body(""), nil, fault.StorageUnavailable},
		"bytes that break off":   {broken(errors.New("reset")), nil, fault.StorageUnavailable},
		"an early end":           {broken(io.ErrUnexpectedEOF), nil, fault.StorageUnavailable},
		"a failure of the store": {nil, failing, fault.StorageUnavailable},
		"a missing object":       {nil, fault.NewCode(fault.NotFound), fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			right := e.bytes.body
			e.bytes.body, e.bytes.err = c.body, c.err
			got, err := e.read(t, 0, int64(len(text)))
			if expect.Code(t, err, c.want); got != "" {
				t.Errorf("%q is served", got)
			}
			e.bytes.body, e.bytes.err = right, nil
			wantText(t, e, text)
			if e.bytes.opened != 2 {
				t.Errorf("the object is read %d times", e.bytes.opened)
			}
		})
	}
}

// TestBytesBelongToTheirPlaceAndTheirTree changes one part of what names the bytes, one after the other.
func TestBytesBelongToTheirPlaceAndTheirTree(t *testing.T) {
	for name, change := range map[string]func(*env){
		"another home":    func(e *env) { e.store.artifact.StorageWorkspace = "elsewhere" },
		"another session": func(e *env) { e.store.tree[0].Object.Session = "ups2" },
		"another entry":   func(e *env) { e.store.tree[0].Object.Entry = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			wantText(t, e, text)
			e.store.tree = append(tree.Tree{}, e.store.tree...)
			change(e)
			e.claims.Revision = id.NewRevision() // whose tree is not in memory
			e.store.artifact.Current = e.claims.Revision
			wantText(t, e, text)
			if e.bytes.opened != 2 {
				t.Error("bytes of another place are served")
			}
		})
	}
	e := newEnv(t)
	wantText(t, e, text)
	e.store.tree = append(tree.Tree{}, e.store.tree...)
	e.store.tree[0].SHA256 = tree.DigestOf("another")
	e.claims.Revision = id.NewRevision()
	e.store.artifact.Current = e.claims.Revision
	_, err := e.read(t, 0, int64(len(text)))
	expect.Code(t, err, fault.StorageUnavailable)
}

// TestAReaderChangesNothingThatTheNextGets overwrites all that a reader is handed.
func TestAReaderChangesNothingThatTheNextGets(t *testing.T) {
	e := newEnv(t)
	for range 2 {
		f, err := e.find(t, "a/b.txt")
		expect.Code(t, err, "")
		body, err := e.Open(t.Context(), f, netip.Addr{}, 0, f.Size)
		expect.Code(t, err, "")
		b, err := io.ReadAll(body)
		if string(b) != text || err != nil {
			t.Fatalf("%q, %v", b, err)
		}
		clear(b)
		if w, ok := body.(io.WriterTo); ok {
			w.WriteTo(eraser{})
		}
		f.Path, f.SHA256 = "changed", tree.Digest{}
		f.Object.Entry = 99
	}
	if e.bytes.opened != 1 || e.store.trees != 1 {
		t.Errorf("%d objects and %d trees are read", e.bytes.opened, e.store.trees)
	}
}

// eraser is a writer that breaks the rule of io.Writer to leave its argument alone.
type eraser struct{}

func (eraser) Write(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestT57AHotFileIsClosedByItsStateAlone has a change of each part of the state. TestT57EveryPartOfTheStateRefuses has
// the others.
func TestT57AHotFileIsClosedByItsStateAlone(t *testing.T) {
	for name, shut := range map[string]func(*env){
		"the artifact is deleted":             func(e *env) { e.store.artifact.Status = artifact.Deleted },
		"an operator locks the workspace":     func(e *env) { e.store.workspace.Lock = "lkd" },
		"the link is revoked":                 func(e *env) { e.store.link.RevokedAt = now },
		"the artifact belongs to another one": func(e *env) { e.store.artifact.Owner = id.NewWorkspace() },
		"the workspace is claimed by one that is gone": func(e *env) {
			e.store.workspace.ClaimedInto = id.NewWorkspace()
		},
		"the revision is retained": olderRevision(artifact.Retained),
		"the token ends":           func(e *env) { e.claims.Expires = now },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			wantText(t, e, text)
			shut(e)
			_, err := e.read(t, 0, int64(len(text)))
			expect.Code(t, err, fault.NotFound)
			if e.bytes.opened != 1 {
				t.Error("the object is read behind closed gates")
			}
		})
	}
	e := newEnv(t)
	wantText(t, e, text)
	e.store.err = fault.NewCode(fault.DatabaseUnavailable)
	_, err := e.read(t, 0, int64(len(text)))
	expect.Code(t, err, fault.DatabaseUnavailable)
}

func TestAReaderWhoLeavesIsToldThatTheStoreIsAway(t *testing.T) {
	e := newEnv(t)
	f, err := e.find(t, "a/b.txt")
	expect.Code(t, err, "")
	synctest.Test(t, func(t *testing.T) {
		release, left := make(chan struct{}), make(chan error)
		e.bytes.body = func() io.Reader { return waiting{release, strings.NewReader(text)} }
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			_, err := e.Open(ctx, f, netip.Addr{}, 0, f.Size)
			left <- err
		}()
		synctest.Wait()
		leave()
		err := <-left
		if expect.Code(t, err, fault.StorageUnavailable); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
	})
	wantText(t, e, text)
	if e.bytes.opened != 1 || e.bytes.closed != 1 {
		t.Errorf("the object is read %d times and closed %d times", e.bytes.opened, e.bytes.closed)
	}
}

// waiting returns nothing until it is released.
type waiting struct {
	release <-chan struct{}
	io.Reader
}

func (w waiting) Read(p []byte) (int, error) {
	<-w.release
	return w.Reader.Read(p)
}

func TestABrowserShowsAFileAgainForAMinuteUnlessItMustAsk(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		path   string
		entry  string // of the revision that is shown
		set    func(*env)
		want   time.Duration
		linked bool
	}{
		"a file of the current revision":   {path: "a/b.txt", entry: "index.txt", want: time.Minute},
		"an image":                         {path: "i.svg", entry: "index.txt", want: time.Minute},
		"the entrypoint":                   {path: "a/b.txt", entry: "a/b.txt"},
		"HTML":                             {path: "p.html", entry: "index.txt"},
		"HTML by its other name":           {path: "P.HTM", entry: "index.txt"},
		"an entrypoint that is not known":  {path: "a/b.txt"},
		"a file through a link":            {path: "a/b.txt", entry: "index.txt", linked: true},
		"a token that ends in a minute":    {path: "a/b.txt", entry: "index.txt", set: ends(time.Minute), want: time.Minute},
		"a token that ends in 59.9 s":      {path: "a/b.txt", entry: "index.txt", set: ends(59900 * ms), want: 59 * time.Second},
		"a token that ends in 1 s":         {path: "a/b.txt", entry: "index.txt", set: ends(time.Second), want: time.Second},
		"a token that ends within 1 s":     {path: "a/b.txt", entry: "index.txt", set: ends(900 * ms)},
		"a file of an older revision":      {path: "a/b.txt", entry: "other", set: older("index.txt"), want: time.Minute},
		"the entrypoint of an older one":   {path: "a/b.txt", entry: "other", set: older("a/b.txt")},
		"the present entrypoint, in it":    {path: "a/b.txt", entry: "a/b.txt", set: older("index.txt"), want: time.Minute},
		"an older one without entrypoint":  {path: "a/b.txt", entry: "other", set: older("")},
		"HTML of an older revision":        {path: "p.html", entry: "other", set: older("index.txt")},
		"an older revision through a link": {path: "a/b.txt", entry: "other", set: older("index.txt"), linked: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			for _, path := range []string{"i.svg", "p.html", "P.HTM"} {
				f := e.store.tree[0]
				f.Path = path
				e.store.tree = append(e.store.tree, f)
			}
			e.store.artifact.Entrypoint = c.entry
			if !c.linked {
				e.claims.Link = ""
			}
			if c.set != nil {
				c.set(e)
			}
			for _, read := range []string{"cold", "hot"} {
				f, err := e.find(t, c.path)
				if expect.Code(t, err, ""); f.MaxAge != c.want {
					t.Errorf("%s: %v, want %v", read, f.MaxAge, c.want)
				}
			}
		})
	}
}

// older makes the revision of the token one that is not the current one, with an entrypoint.
func older(entrypoint string) func(*env) {
	return func(e *env) {
		olderRevision(artifact.Published)(e)
		e.store.older.Entrypoint = entrypoint
	}
}

// ends makes the token end after some time. Tokens end with a second, so that the clock is what moves.
func ends(after time.Duration) func(*env) {
	return func(e *env) {
		at := e.claims.Expires.Add(-after)
		e.Now = func() time.Time { return at }
		e.store.artifact.ExpiresAt = e.claims.Expires.Add(time.Hour)
	}
}

// brokenPorts panics where a read asks it beside what it asks others.
type brokenPorts struct {
	Store
	Exports
	Bytes
}

func (brokenPorts) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	panic("broken")
}

func (brokenPorts) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	panic("broken")
}

func (brokenPorts) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	panic("broken")
}

func (brokenPorts) Open(context.Context, id.Workspace, tree.Object, int64, int64) (io.ReadCloser, error) {
	panic("broken")
}

func TestAPanicBesideAReadIsItsError(t *testing.T) {
	find := func(e *env) error {
		_, err := e.find(t, "a/b.txt")
		return err
	}
	bundle := func(e *env) error {
		_, err := e.findBundle(t)
		return err
	}
	for name, read := range map[string]func(*env) error{
		"the limiter of files": func(e *env) error {
			e.Limiter.Counters = nil
			return find(e)
		},
		"the files": func(e *env) error {
			e.Store = brokenPorts{Store: e.store}
			return find(e)
		},
		"the revision of a bundle": func(e *env) error {
			e.Store = brokenPorts{Store: e.store}
			return bundle(e)
		},
		"the limiter of bundles": func(e *env) error {
			e.Limiter.Counters = nil
			return bundle(e)
		},
		"the bytes": func(e *env) error {
			const large = limits.StreamsAbove + 1
			e.Bytes = brokenPorts{Bytes: e.bytes}
			_, err := e.Open(t.Context(), File{File: tree.File{Size: large}}, netip.Addr{}, 0, large)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(newBundleEnv(t)); async.StackOf(err) == nil {
				t.Error(err)
			}
		})
	}
}
