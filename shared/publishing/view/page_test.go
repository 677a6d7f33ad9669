package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// many is n files in no order of their paths, with the entrypoint in the middle.
func many(n int) tree.Tree {
	out := make(tree.Tree, n)
	for i := range out {
		out[i] = tree.File{Path: fmt.Sprintf("d/%04d.txt", (i*7919)%n), Size: int64(i)}
	}
	out[n/2].Path = "index.html"
	return out
}

// newLargeEnv is newEnv with n files and the cache of a host.
func newLargeEnv(t *testing.T, n int) *env {
	t.Helper()
	e := newEnv(t)
	e.store.tree = many(n)
	for r := range e.store.revisions {
		is := e.store.revisions[r]
		is.FileCount = n
		e.store.revisions[r] = is
	}
	e.store.artifact.FileCount = n
	e.Cache = cache.New(e.Limits.Cache)
	return e
}

// reading is a way to read a page of a view.
type reading func(cursor string) (View, error)

// readings are the ways to read pages of the newest revision.
func (e *env) readings(t *testing.T) map[string]reading {
	a, r := &e.store.artifact, e.store.revisions[e.revisions[1]]
	return map[string]reading{
		"the owner's newest": func(c string) (View, error) {
			return e.Latest(t.Context(), e.owner, a, cursor.Page{Cursor: c})
		},
		"the owner's": func(c string) (View, error) {
			return e.Pinned(t.Context(), e.owner, a, &r, cursor.Page{Cursor: c})
		},
		"a token's": func(c string) (View, error) {
			return e.Public(t.Context(), e.tokens[1], cursor.Page{Cursor: c})
		},
		"a link's": func(c string) (View, error) { return e.resolvePage(t, c) },
	}
}

// resolvePage is resolve for a page of files.
func (e *env) resolvePage(t *testing.T, cursor string) (View, error) {
	t.Helper()
	url, err := e.Addresses.Link(e.store.link.Public, e.store.workspace.ID, e.store.artifact.ID, now.Add(time.Hour))
	expect.Code(t, err, "")
	_, blob, _ := strings.Cut(url, "#")
	q := contract.ResolveRequest{PublicID: e.store.link.Public, Blob: blob, FilesCursor: cursor}
	return e.Resolve(t.Context(), q, false)
}

// walk reads all pages.
func walk(t *testing.T, read reading) (pages []View) {
	t.Helper()
	for next := ""; ; {
		v, err := read(next)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, v)
		if next = v.Next; next == "" {
			return pages
		}
	}
}

func TestPagesOfFilesAreTheTree(t *testing.T) {
	for n, want := range map[int][]int{
		100: {100}, 101: {100, 1}, 250: {100, 150}, 2000: {100, 1000, 900},
	} {
		e := newLargeEnv(t, n)
		ordered := slices.Clone(e.store.tree)
		if n > limits.ViewFiles {
			slices.SortFunc(ordered, func(x, y tree.File) int { return cmp.Compare(x.Path, y.Path) })
			at := slices.IndexFunc(ordered, func(f tree.File) bool { return f.Path == "index.html" })
			ordered = slices.Concat(ordered[at:at+1], ordered[:at], ordered[at+1:])
		}
		for name, read := range e.readings(t) {
			var sizes []int
			var all tree.Tree
			for _, v := range walk(t, read) {
				sizes = append(sizes, len(v.Files))
				for _, f := range v.Files {
					all = append(all, f.File)
					if f.URLs != v.Location.Of(f.Path) || f.URLs.Bytes == "" {
						t.Fatalf("%s of %d files: %s is at %+v", name, n, f.Path, f.URLs)
					}
				}
				if len(v.Tree) != n || v.Revision.ID != e.revisions[1] {
					t.Errorf("%s of %d files is of %d, of %s", name, n, len(v.Tree), v.Revision.ID)
				}
			}
			if !slices.Equal(sizes, want) || !slices.Equal(all, ordered) {
				t.Errorf("%s of %d files has pages of %v, want %v; in order: %t", name, n, sizes, want, slices.Equal(all, ordered))
			}
		}
		if e.store.read != 1 {
			t.Errorf("the list of %d files is read %d times for all views", n, e.store.read)
		}
	}
}

func TestAPageOfFilesHasAsManyAsItsReaderWants(t *testing.T) {
	e := newLargeEnv(t, 250)
	pages := walk(t, func(c string) (View, error) {
		return e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{Cursor: c, Limit: 100})
	})
	if len(pages) != 3 || len(pages[1].Files) != 100 || len(pages[2].Files) != 50 {
		t.Errorf("%d pages", len(pages))
	}
}

// TestAPageOfLongPathsIsSmaller lists paths that take most in an answer.
func TestAPageOfLongPathsIsSmaller(t *testing.T) {
	e := newLargeEnv(t, 2000)
	for n := range e.store.tree {
		name := fmt.Sprintf("%04d", n)
		e.store.tree[n].Path = name + strings.Repeat("\"", limits.PathBytes-len(name)-3) + ".md"
	}
	pages := walk(t, e.readings(t)["a token's"])
	count := 0
	for n, v := range pages {
		size := 0
		for _, f := range v.Files {
			size += f.size()
		}
		if count += len(v.Files); n > 0 && (size > maxPageBytes || len(v.Files) < 60 && v.Next != "") {
			t.Errorf("page %d has %d files of %d bytes", n, len(v.Files), size)
		}
	}
	if count != 2000 {
		t.Errorf("the pages have %d files", count)
	}
}

func TestACursorIsOfTheFilesOfOneRevision(t *testing.T) {
	e, other := newLargeEnv(t, 250), newLargeEnv(t, 250)
	old := e.store.revisions[e.revisions[0]]
	first, err1 := e.Pinned(t.Context(), e.owner, &e.store.artifact, &old, cursor.Page{})
	other.Cursors = e.Cursors
	foreign, err2 := other.Latest(t.Context(), other.owner, &other.store.artifact, cursor.Page{})
	plain, err3 := e.Cursors.Seal(cursor.List{Workspace: e.owner.Workspace.ID, Name: "revisions." + string(e.store.artifact.ID), Now: now},
		cursor.Position{ID: string(e.revisions[1]) + " 100"})
	expect.OK(t, err1, err2, err3)
	for name, read := range e.readings(t) {
		of := map[string]string{"garbage": "x", "another artifact": foreign.Next, "another list": plain}
		if name == "the owner's" || name == "a token's" {
			of["another revision"] = first.Next
		}
		mine, err := read("")
		expect.Code(t, err, "")
		of["a changed one"] = mine.Next[:len(mine.Next)-4] + "AAAA"
		for what, c := range of {
			_, err := read(c)
			if expect.Code(t, err, fault.InvalidRequest); !strings.Contains(fault.Of(err).Message, "read the view again without it") {
				t.Errorf("%s: the refusal of %s says %q", name, what, fault.Of(err).Message)
			}
		}
	}
}

// TestPagesGoOnWithTheirRevision publishes a revision between two pages.
func TestPagesGoOnWithTheirRevision(t *testing.T) {
	e := newLargeEnv(t, 250)
	for _, name := range []string{"the owner's newest", "a link's"} {
		read := e.readings(t)[name]
		e.store.artifact.Current = e.revisions[0]
		first, err := read("")
		expect.Code(t, err, "")
		e.store.artifact.Current = e.revisions[1]
		second, err := read(first.Next)
		expect.Code(t, err, "")
		if second.Revision.ID != e.revisions[0] || len(second.Files) != 150 {
			t.Errorf("%s: the next page has %d files of %s", name, len(second.Files), second.Revision.ID)
		}
		if v, err := read(""); err != nil || v.Revision.ID != e.revisions[1] {
			t.Errorf("%s: a fresh view is of %s, %v", name, v.Revision.ID, err)
		}
	}
}

func TestAPageOfAnOlderRevisionEndsWithTheLinksThatWereThere(t *testing.T) {
	for name, set := range map[string]func(*env){
		"links were closed since": func(e *env) {
			a := &e.store.artifact
			a.LinksRevokedBefore, a.ViewsRevokedBefore = now.Add(-2*time.Hour), 1
			e.store.link.CreatedAt = now.Add(-time.Hour)
		},
		"the revision is retained": func(e *env) {
			e.store.revisions[e.revisions[0]] = artifact.Revision{ID: e.revisions[0], Status: artifact.Retained}
		},
		"the link is to another revision": func(e *env) { e.toRevision(1) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newLargeEnv(t, 250)
			e.store.artifact.Current = e.revisions[0]
			first, err := e.resolvePage(t, "")
			expect.Code(t, err, "")
			e.store.artifact.Current = e.revisions[1]
			set(e)
			_, err = e.resolvePage(t, first.Next)
			expect.Code(t, err, fault.InvalidRequest)
			_, err = e.resolvePage(t, "")
			expect.Code(t, err, "")
		})
	}
}

func TestCursorsOfAllPagesEndADayAfterTheFirst(t *testing.T) {
	e := newLargeEnv(t, 2000)
	at := now
	e.Now = func() time.Time { return at }
	e.store.artifact.ExpiresAt = now.Add(7 * limits.Day)
	read := e.readings(t)["the owner's newest"]
	first, err := read("")
	expect.Code(t, err, "")
	at = now.Add(limits.CursorLife - time.Second)
	second, err := read(first.Next)
	expect.Code(t, err, "")
	_, err = read(second.Next)
	expect.Code(t, err, "")
	at = now.Add(limits.CursorLife)
	_, err = read(second.Next)
	expect.Code(t, err, fault.InvalidRequest)
}

func TestAPageIsCountedAsARead(t *testing.T) {
	for _, name := range []string{"a token's", "a link's"} {
		e := newLargeEnv(t, 250)
		read := e.readings(t)[name]
		if pages := walk(t, read); len(pages) != 2 {
			t.Fatalf("%d pages", len(pages))
		}
		e.counters.WantSpent(t, e.Limiter, e.store.artifact.ID, 2, 0)
		first, err := read("")
		expect.Code(t, err, "")
		e.counters.Full = true
		e.Limiter = &rate.Limiter{Counters: e.counters, Limits: e.Limits, Now: e.Now} // one that has no permits left
		_, err = read(first.Next)
		expect.Code(t, err, fault.RateLimitedArtifact)
		e.counters.Full, e.store.link.RevokedAt, e.store.artifact.LinksLockedAt = false, now, now
		_, err = read(first.Next)
		expect.Code(t, err, fault.NotFound)
	}
}

// TestAPageWaitsForNoBundle reads pages while the bundle is pending: only the first one looks whether it is ready.
func TestAPageWaitsForNoBundle(t *testing.T) {
	e := newLargeEnv(t, 2000)
	e.bundle(artifact.BundlePending)
	if pages := walk(t, e.readings(t)["the owner's newest"]); len(pages) != 3 || e.store.read != 1 {
		t.Errorf("%d pages take %d reads of the files", len(pages), e.store.read)
	}
}

// TestAPageOfAColdHostCostsOneManifest reads the last page where nothing is in memory.
func TestAPageOfAColdHostCostsOneManifest(t *testing.T) {
	e := newLargeEnv(t, 2000)
	for name, read := range e.readings(t) {
		pages := walk(t, read)
		e.Cache = cache.New(e.Limits.Cache)
		e.store.read = 0
		_, err := read(pages[1].Next)
		if expect.Code(t, err, ""); e.store.read != 1 {
			t.Errorf("%s: a page takes %d reads of the files", name, e.store.read)
		}
	}
}
