package view

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// states are what an artifact may be in, and whether its owner's key, and its owner's member, may see it.
var states = map[string]struct {
	set         func(*env)
	key, member bool
}{
	"one that is published": {func(*env) {}, true, true},
	"one that expires now":  {func(e *env) { e.store.artifact.ExpiresAt = now }, false, false},
	"a pinned one past its end": {
		func(e *env) { e.store.artifact.ExpiresAt, e.store.artifact.PinnedAt = now, now }, true, true,
	},
	"one that is deleted":            {func(e *env) { e.store.artifact.Status = artifact.Deleted }, false, false},
	"one that an operator locked":    {func(e *env) { e.store.artifact.Lock = "lkd" }, false, true},
	"one of another workspace":       {func(e *env) { e.store.artifact.Owner = id.NewWorkspace() }, false, false},
	"one whose links are locked":     {func(e *env) { e.store.artifact.LinksLockedAt = now }, true, true},
	"one whose contents are missing": {func(e *env) { e.store.gone = true }, false, false},
}

func TestAnOwnerSeesAnArtifactThatCanBeRead(t *testing.T) {
	for name, c := range states {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			r := e.store.revisions[e.revisions[0]]
			for member, sees := range map[id.Member]bool{"": c.key, "mem": c.member} {
				e.owner.Member = member
				_, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
				if (err == nil) != sees || err != nil && fault.CodeOf(err) != fault.NotFound {
					t.Errorf("the newest revision, for member %q: %v", member, err)
				}
				_, err = e.Pinned(t.Context(), e.owner, &e.store.artifact, &r, cursor.Page{})
				if (err == nil) != sees || err != nil && fault.CodeOf(err) != fault.NotFound {
					t.Errorf("one revision, for member %q: %v", member, err)
				}
			}
		})
	}
}

func TestAnOwnerSeesTheNewestRevisionOrTheOneThatIsNamed(t *testing.T) {
	e := newEnv(t)
	newest, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, "")
	if newest.Revision.ID != e.revisions[1] || newest.PrivateURL != "https://app.test/v/"+string(e.store.artifact.ID) {
		t.Errorf("%+v, want the second revision, private", newest)
	}
	for name, c := range map[string]struct {
		set  func(*artifact.Revision)
		want fault.Code
	}{
		"an older one is shown":       {func(*artifact.Revision) {}, ""},
		"a draft is not found":        {func(r *artifact.Revision) { r.Status = artifact.Draft }, fault.NotFound},
		"one without bytes says so":   {func(r *artifact.Revision) { r.Status = artifact.Retained }, fault.RevisionRetained},
		"one of another artifact not": {func(r *artifact.Revision) { r.Artifact = id.NewArtifact() }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.store.revisions[e.revisions[0]]
			c.set(&r)
			view, err := e.Pinned(t.Context(), e.owner, &e.store.artifact, &r, cursor.Page{})
			expect.Code(t, err, c.want)
			if c.want == "" && view.Revision.ID != e.revisions[0] {
				t.Errorf("%+v, want the first revision", view)
			}
		})
	}
	_, err = e.Pinned(t.Context(), e.owner, &e.store.artifact, nil, cursor.Page{})
	expect.Code(t, err, fault.NotFound)
	e.store.artifact.Current = ""
	_, err = e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, fault.NotFound)
}

func TestAViewHasAURLForEachFile(t *testing.T) {
	e := newEnv(t)
	view, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, "")
	prefix := "https://content.test/v/"
	if !strings.HasPrefix(view.Entrypoint.Bytes, prefix) || !strings.HasSuffix(view.Entrypoint.Bytes, "/index.html") {
		t.Error(view.Entrypoint.Bytes)
	}
	if len(view.Files) != 2 || !strings.HasSuffix(view.Files[1].URLs.Bytes, "/a%20b/"+address.Escape("é.txt")) {
		t.Errorf("%+v, want two files with escaped paths", view.Files)
	}
}

func TestTheURLsOfFilesAreThoseOfTheView(t *testing.T) {
	e := newEnv(t)
	view, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
	expect.Code(t, err, "")
	build, err := e.FileURLs(e.owner, &e.store.artifact, e.store.artifact.Current)
	expect.Code(t, err, "")
	for _, f := range view.Files {
		if got := build(f.Path); got != f.URLs.Bytes {
			t.Errorf("%s is at %s, want %s", f.Path, got, f.URLs.Bytes)
		}
	}
	for name, c := range states {
		e := newEnv(t)
		c.set(e)
		want := fault.Code("")
		if !c.key && !e.store.gone {
			want = fault.NotFound
		}
		if _, err := e.FileURLs(e.owner, &e.store.artifact, e.store.artifact.Current); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestTheTierOfTheOwnerDecidesWhatATokenAllows(t *testing.T) {
	for name, c := range map[string]struct {
		set              func(*env)
		noIndex, scripts bool
		expires          time.Time
	}{
		"an unclaimed workspace": {func(*env) {}, true, false, now.Add(limits.Day)},
		"a claimed workspace": {
			func(e *env) { e.owner.Workspace.ClaimedAt = now }, false, true, now.Add(limits.Day),
		},
		"an artifact that lives longer than tokens": {
			func(e *env) { e.store.artifact.ExpiresAt = now.Add(30 * limits.Day) }, true, false, now.Add(limits.TokenLife),
		},
		"a pinned artifact past its end": {
			func(e *env) { e.store.artifact.ExpiresAt, e.store.artifact.PinnedAt = now, now },
			true, false, now.Add(limits.PinnedTokenLife),
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			view, err := e.Latest(t.Context(), e.owner, &e.store.artifact, cursor.Page{})
			expect.Code(t, err, "")
			claims := e.parse(t, view.Entrypoint.Bytes, c.expires.Add(-time.Second))
			if claims.NoIndex != c.noIndex || claims.Scripts != c.scripts || claims.Link != "" {
				t.Errorf("%+v, want the plan's", claims)
			}
			if claims.Expires.After(c.expires) {
				t.Errorf("%+v, want an end by %s", claims, c.expires)
			}
			if view.Ephemeral != e.owner.Workspace.ClaimedAt.IsZero() {
				t.Errorf("shown as ephemeral: %t", view.Ephemeral)
			}
		})
	}
}

// parse reads the token of a content URL at an instant.
func (e *env) parse(t *testing.T, url string, at time.Time) token.Claims {
	t.Helper()
	text, _, _ := strings.Cut(strings.TrimPrefix(url, "https://content.test/v/"), "/")
	claims, err := e.Addresses.ContentToken.Parse(text, at)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestAnOwnerReadsAFileBack(t *testing.T) {
	text := tree.File{Path: "a.txt", Size: 2, SHA256: tree.DigestOf("é")}
	set := func(f func(*tree.File)) func(*env) {
		return func(e *env) {
			one := text
			f(&one)
			e.store.tree = tree.Tree{one}
		}
	}
	for name, c := range map[string]struct {
		set      func(*env)
		revision int // 0: the newest
		path     string
		body     string
		want     fault.Code
	}{
		"a text":                      {set(func(*tree.File) {}), 0, "a.txt", "é", ""},
		"a text of an older revision": {set(func(*tree.File) {}), 1, "a.txt", "é", ""},
		"an empty file":               {set(func(f *tree.File) { f.Size = 0 }), 0, "a.txt", "", ""},
		"a path that is not there":    {set(func(*tree.File) {}), 0, "b.txt", "", fault.NotFound},
		"an empty path":               {set(func(*tree.File) {}), 0, "", "", fault.NotFound},
		"a path out of the revision":  {set(func(*tree.File) {}), 0, "../a.txt", "", fault.NotFound},
		"a file with another digest": {
			set(func(f *tree.File) { f.SHA256[0]++ }), 0, "a.txt", "", fault.StorageUnavailable,
		},
		"an artifact that has expired": {func(e *env) { e.store.artifact.ExpiresAt = now }, 0, "a.txt", "", fault.NotFound},
		"an artifact of another":       {func(e *env) { e.owner.Workspace.ID = "other" }, 0, "a.txt", "", fault.NotFound},
		"an artifact that has none":    {func(e *env) { e.store.artifact.Current = "" }, 0, "a.txt", "", fault.NotFound},
		"contents that are missing":    {func(e *env) { e.store.gone = true }, 0, "a.txt", "", fault.NotFound},
		"a revision that is not there": {func(e *env) { e.revisions[0] = id.NewRevision() }, 1, "a.txt", "", fault.NotFound},
		"a revision that is malformed": {func(e *env) { e.revisions[0] = "rev_" }, 1, "a.txt", "", fault.NotFound},
		"a revision that does not live": {
			func(e *env) { e.store.revisions[e.revisions[0]] = artifact.Revision{} }, 1, "a.txt", "", fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.tree = tree.Tree{text}
			c.set(e)
			var r id.Revision
			if c.revision > 0 {
				r = e.revisions[c.revision-1]
			}
			got, err := e.File(t.Context(), e.owner, &e.store.artifact, r, c.path)
			expect.Code(t, err, c.want)
			if c.want != "" {
				return
			}
			if got.Text == nil || *got.Text != c.body || got.Binary {
				t.Errorf("%+v, want %q", got, c.body)
			}
			if f := e.store.tree[0]; got.Path != c.path || got.SHA256 != f.SHA256 || got.Size != f.Size {
				t.Errorf("%+v, want %+v", got, f)
			}
			if want := cmp.Or(r, e.store.artifact.Current); e.store.asked != want {
				t.Errorf("revision %s is read, not %s", e.store.asked, want)
			}
		})
	}
}

func TestTextComesWholeWhateverItsTypeAndOtherBytesDoNot(t *testing.T) {
	for path, c := range map[string]struct {
		text   string
		binary bool
	}{
		"escapes.json": {`{"a":"<&>\u2028"}`, false},
		"page.html":    {"<p>\u2028</p>", false},
		"unknown.zzz":  {"text", false},
		"a.png":        {"\xff\xd8", true},
		"a.txt":        {"half a character\xc3", true},
	} {
		e := newEnv(t)
		e.Bytes = fakeBytes(c.text)
		e.store.tree = tree.Tree{{Path: path, Size: int64(len(c.text)), SHA256: tree.DigestOf(c.text)}}
		got, err := e.File(t.Context(), e.owner, &e.store.artifact, "", path)
		if err != nil || got.Binary != c.binary || (got.Text == nil) != c.binary ||
			got.Text != nil && *got.Text != c.text || got.Size != int64(len(c.text)) ||
			got.SHA256 != tree.DigestOf(c.text) {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func TestAFileThatNoAnswerHoldsIsNotRead(t *testing.T) {
	e := newEnv(t)
	e.Bytes = nil
	e.store.tree = tree.Tree{{Path: "a.txt", Size: limits.InlineAnswer + 1, SHA256: tree.DigestOf("long")}}
	got, err := e.File(t.Context(), e.owner, &e.store.artifact, "", "a.txt")
	if err != nil || got.Text != nil || got.Binary || got.Size != limits.InlineAnswer+1 ||
		got.SHA256 != tree.DigestOf("long") {
		t.Errorf("%+v, %v, want the size and digest alone", got, err)
	}
}
