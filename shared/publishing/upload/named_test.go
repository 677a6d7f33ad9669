package upload

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// same makes the request one for what the newest revision of an artifact has.
func (c *creator) same(t *testing.T) {
	t.Helper()
	a := c.revises()
	a.Title = c.request.Title
	c.request.Files[0].SHA256 = tree.EmptyDigest.String()
	digest, _ := tree.ParseDigest(c.request.Files[0].SHA256)
	c.store.base = &artifact.Contents{
		Revision: artifact.Revision{Artifact: a.ID, ID: a.Current, Entrypoint: c.request.Entrypoint},
		Tree:     tree.Tree{{Path: c.request.Files[0].Path, Size: c.request.Files[0].SizeBytes, SHA256: digest}},
	}
}

func TestFilesThatChangeSomethingMakeARevision(t *testing.T) {
	for name, change := range map[string]func(*creator){
		"another title":           func(c *creator) { c.request.Title = "Another" },
		"another entrypoint":      func(c *creator) { c.request.Entrypoint = "other.html" },
		"an app":                  func(c *creator) { c.request.App = new(true) },
		"the list of files":       func(c *creator) { c.request.Listing = true },
		"another size":            func(c *creator) { c.request.Files[0].SizeBytes++ },
		"another path":            func(c *creator) { c.request.Files[0].Path = "other.html" },
		"no digest":               func(c *creator) { c.request.Files[0].SHA256 = "" },
		"a file more":             func(c *creator) { c.request.Files = append(c.request.Files, file("b.html", 1)) },
		"a file less":             func(c *creator) { c.store.base.Tree = append(c.store.base.Tree, tree.File{Path: "c.html"}) },
		"a new artifact":          func(c *creator) { c.request.ArtifactID = "" },
		"no published revision":   func(c *creator) { c.store.artifact.Current = "" },
		"an artifact that ended":  func(c *creator) { c.store.artifact.ExpiresAt = now.Add(-time.Hour) },
		"an artifact of another":  func(c *creator) { c.store.artifact.Owner = id.NewWorkspace() },
		"an artifact of nobody":   func(c *creator) { c.store.artifact = nil },
		"a revision that is gone": func(c *creator) { c.store.base = nil },
	} {
		c := newCreator()
		c.same(t)
		change(c)
		if got, err := c.Unchanged(t.Context(), c.by, c.request); got != "" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	c := newCreator()
	c.same(t)
	got, err := c.Unchanged(t.Context(), c.by, c.request)
	expect.Code(t, err, "")
	if got != c.store.artifact.Current {
		t.Errorf("the same files are of %q", got)
	}
}

func TestOnlyIDsOfSessionsAreRead(t *testing.T) {
	c := newCreator()
	c.store.session = &Session{ID: id.NewSession()}
	for u, found := range map[id.Session]bool{c.store.session.ID: true, "upl_1": false, "": false} {
		if s, _, err := c.Named(t.Context(), u); (s != nil) != found || err != nil {
			t.Errorf("%q: %v, %v", u, s, err)
		}
	}
}
