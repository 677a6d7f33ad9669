package app

import (
	"cmp"
	"strings"
	"testing"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/view"
)

func TestAViewerFramesAListedPlaceOrWhatOpensFirst(t *testing.T) {
	at, err := addresses.New(t).Locate(token.Claims{
		Workspace: id.NewWorkspace(), Artifact: id.NewArtifact(), Revision: id.NewRevision(), Expires: noon,
	})
	expect.OK(t, err)
	v := view.View{Revision: artifact.Revision{Entrypoint: "a.png"}, Location: at}
	for _, path := range []string{"a.png", "docs/b c.md", "docs/more/d.html", "docs/100%?.md", "e.bin"} {
		v.Tree = append(v.Tree, tree.File{Path: path})
	}
	for _, c := range []struct {
		place, page, list string // want where the entrypoint opens, and where the list does
	}{
		{"", "/r/a.png", "/r"},
		{"#i2", "/r/a.png", "/r#i2"},
		{"a.png", "/r/a.png", "/r/a.png"},
		{"docs", "/r/docs", "/r/docs"},
		{"docs?page=2#i3", "/r/docs?page=2#i3", "/r/docs?page=2#i3"},
		{"?page=2", "/r/a.png", "/r?page=2"},
		{"docs/more#x", "/r/docs/more#x", "/r/docs/more#x"},
		{"docs/b c.md#x", "/r/docs/b%20c.md#x", "/r/docs/b%20c.md#x"},
		{"docs/more/d.html", "/v/docs/more/d.html", "/v/docs/more/d.html"},
		{"docs/more/d.html?q=a+b#x", "/v/docs/more/d.html?q=a+b#x", "/v/docs/more/d.html?q=a+b#x"},
		{"docs/100%25%3F.md?sort=2d", "/r/docs/100%25%3F.md?sort=2d", "/r/docs/100%25%3F.md?sort=2d"},
		{"docs/100%?.md", "/r/a.png", "/r"},
		{"doc", "/r/a.png", "/r"},
		{"docs/", "/r/a.png", "/r"},
		{"../x", "/r/a.png", "/r"},
		{"e.bin", "/r/a.png", "/r"},
	} {
		for listing, want := range map[bool]string{false: c.page, true: c.list} {
			v.Revision.Listing = listing
			v.Frame = v.Revision.Frame(at)
			got := strings.NewReplacer(at.Folder(""), "/r", strings.TrimSuffix(at.Of("").Bytes, "/"), "/v").Replace(frameAt(v, c.place))
			if got != want {
				t.Errorf("listing %v: frameAt(%q) = %s, want %s", listing, c.place, got, want)
			}
		}
	}
	v.Revision.Entrypoint = "e.bin"
	for _, listing := range []bool{false, true} {
		if v.Revision.Listing = listing; framed(v) != listing {
			t.Errorf("listing %v: framed(…) = %v", listing, !listing)
		}
	}
}

// TestAPageIsFramedByThePathThatWasAskedFor checks what pages see that choose what they show by their path.
func TestAPageIsFramedByThePathThatWasAskedFor(t *testing.T) {
	origins := addresses.Origins
	origins.Own = "https://*.content.test"
	claims := token.Claims{
		Workspace: id.NewWorkspace(), Artifact: id.NewArtifact(), Revision: id.NewRevision(), Expires: noon,
	}
	shared, err := addresses.At(t, origins).Locate(claims)
	expect.OK(t, err)
	own, _ := shared.Own()
	v := view.View{
		Revision: artifact.Revision{ID: claims.Revision, Entrypoint: "index.html"},
		Artifact: artifact.Artifact{Current: claims.Revision},
		Location: shared,
		Scripts:  true,
	}
	for _, path := range []string{"index.html", "about.html", "about/data.txt", "docs/index.html", "ports/brest.html"} {
		v.Tree = append(v.Tree, tree.File{Path: path})
	}
	v.Frame = v.Revision.Frame(shared)
	for _, c := range []struct{ place, own, shared string }{
		{"", "/", "/v/index.html"},
		{"about", "/about", "/r/about"}, // the shared origin names pages by their files
		{"ports/brest?day=2#tide", "/ports/brest?day=2#tide", "/v/ports/brest.html?day=2#tide"},
		{"ports/brest.html", "/ports/brest.html", "/v/ports/brest.html"},
		{"docs/", "/docs/", "/v/docs/index.html"},
		{"ports", "/.vitrine/r/ports", "/r/ports"},
		{"none", "/", "/v/index.html"},
	} {
		if got := "/" + strings.TrimPrefix(ownFrameAt(v, c.place), own.Of("").Bytes); got != c.own {
			t.Errorf("at its own origin %q is %s, want %s", c.place, got, c.own)
		}
		v.Revision.App = artifact.FoundApp
		routed := map[string]string{"ports": "/ports", "none": "/none"}
		if got := "/" + strings.TrimPrefix(ownFrameAt(v, c.place), own.Of("").Bytes); got != cmp.Or(routed[c.place], c.own) {
			t.Errorf("in an app at its own origin %q is %s", c.place, got)
		}
		v.Revision.App = artifact.NoApp
		got := strings.NewReplacer(shared.Folder(""), "/r", strings.TrimSuffix(shared.Of("").Bytes, "/"), "/v").
			Replace(frameAt(v, c.place))
		if got != c.shared {
			t.Errorf("at the shared origin %q is %s, want %s", c.place, got, c.shared)
		}
	}
}
