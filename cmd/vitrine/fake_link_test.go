package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// active returns the working share link, nil without one.
func (w *workspaceState) active() *contract.LinkRow {
	for i := range w.links {
		if l := &w.links[i]; l.Type == "share" && l.RevokedAt == nil && (l.ExpiresAt == nil || l.ExpiresAt.After(epoch)) {
			return l
		}
	}
	return nil
}

func (w *workspaceState) link(l id.Link) *contract.LinkRow {
	for i := range w.links {
		if w.links[i].ID == l {
			return &w.links[i]
		}
	}
	return nil
}

func (w *workspaceState) newLink(kind string, pinned *id.Revision, ends *contract.Time) *contract.LinkRow {
	w.links = append(w.links, contract.LinkRow{
		ID:         id.Link(fmt.Sprintf("al_%026d", len(w.links)+1)),
		Type:       kind,
		ArtifactID: artifact,
		RevisionID: pinned,
		CreatedAt:  contract.At(epoch),
		ExpiresAt:  ends,
	})
	return &w.links[len(w.links)-1]
}

// url returns a new URL of a link.
func (w *workspaceState) url(l *contract.LinkRow) string {
	w.minted++
	public, _ := l.ID.Public()
	return fmt.Sprintf("http://app.test/al/%s#blob%d", public, w.minted)
}

func (server *fakeServer) createLink(w http.ResponseWriter, r *http.Request) {
	var in contract.CreateLink
	server.decode(r, &in)
	s := server.world.revision(in.RevisionID)
	switch {
	case in.Type == "share" && in.RevisionID != "", in.ExpiresAt != nil && !in.ExpiresAt.After(epoch):
		server.wrong = append(server.wrong, fmt.Sprintf("link: %+v", in))
	case in.Type == "revision" && s == nil:
		notFound(w)
		return
	}
	l := server.world.active()
	if in.Type == "share" && l != nil && in.ExpiresAt != nil && (l.ExpiresAt == nil ||
		l.ExpiresAt.After(in.ExpiresAt.Time)) && !server.world.lenient {
		plannedFault{status: 400, code: "invalid_request"}.answer("", w)
		return
	}
	if in.Type == "revision" {
		l = server.world.newLink(in.Type, &s.id, in.ExpiresAt)
	} else if l == nil {
		l = server.world.newLink(in.Type, nil, in.ExpiresAt)
	}
	answer(w, 201, contract.CreatedLink{
		ID:         l.ID,
		Type:       l.Type,
		ArtifactID: artifact,
		RevisionID: l.RevisionID,
		CreatedAt:  l.CreatedAt,
		Comments:   in.Comments,
	})
}

func (server *fakeServer) listLinks(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, contract.LinkList{ArtifactID: artifact, Items: append([]contract.LinkRow{}, server.world.links...)})
}

func (server *fakeServer) mint(w http.ResponseWriter, r *http.Request) {
	l := server.world.link(id.Link(r.PathValue("link")))
	if l == nil || l.RevokedAt != nil || server.world.deleted {
		notFound(w)
		return
	}
	answer(w, 200, contract.MintedLink{URL: server.world.url(l)})
}

func (server *fakeServer) unlink(w http.ResponseWriter, r *http.Request) {
	l := server.world.link(id.Link(r.PathValue("link")))
	if l == nil {
		notFound(w)
		return
	}
	at := contract.At(epoch)
	l.RevokedAt = &at
	answer(w, 200, contract.RevokedLink{AccessLinkID: l.ID, RevokedAt: at})
}

func (server *fakeServer) visibility(w http.ResponseWriter, r *http.Request) {
	var in contract.SetVisibility
	server.decode(r, &in)
	out := contract.Visibility{ArtifactID: artifact, Visibility: in.Visibility}
	switch in.Visibility {
	case "unlisted":
		l := server.world.active()
		if l == nil {
			l = server.world.newLink("share", nil, nil)
		}
		out.AccessLinkID, out.UnlistedURL = l.ID, server.world.url(l)
	case "private":
		ended, at := []id.Link{}, contract.At(epoch)
		for i := range server.world.links {
			if l := &server.world.links[i]; l.RevokedAt == nil {
				l.RevokedAt = &at
				ended = append(ended, l.ID)
			}
		}
		out.PrivateURL, out.RevokedAccessLinkIDs = "http://app.test/v/"+artifact, &ended
	default:
		server.wrong = append(server.wrong, "visibility: "+in.Visibility)
	}
	answer(w, 200, out)
}

func (server *fakeServer) resolve(w http.ResponseWriter, r *http.Request) {
	var in contract.ResolveRequest
	server.decode(r, &in)
	for _, l := range server.world.links {
		public, _ := l.ID.Public()
		if public != in.PublicID || l.RevokedAt != nil || server.world.deleted || !strings.HasPrefix(in.Blob, "blob") {
			continue
		}
		s := server.world.newest()
		if l.RevisionID != nil {
			s = server.world.revision(*l.RevisionID)
		}
		page, ok := server.page(w, s, in.FilesCursor)
		if !ok {
			return
		}
		answer(w, 200, contract.Resolved{
			AgentView:  page,
			RenderMode: "html",
			IframeSrc:  server.content.URL + "/v/x/index.html",
			Title:      server.world.title,
		})
		return
	}
	notFound(w)
}

// tellWorld handles the commands of tellPeer about the artifact.
func (server *fakeServer) tellWorld(ts *testscript.TestScript, args []string) {
	unquoted := func(text string) string {
		text, err := strconv.Unquote(`"` + text + `"`)
		ts.Check(err)
		return text
	}
	w := &server.world
	switch args[0] {
	case "newer":
		for i := range number(ts, args[2]) {
			text := strings.ReplaceAll(unquoted(args[4]), "%", strconv.Itoa(i+1))
			w.meanwhile[args[1]] = append(w.meanwhile[args[1]], snapshot{files: map[string]string{args[3]: text}})
		}
	case "lenient":
		w.lenient = true
	case "draft":
		w.drafts[args[1]] = number(ts, args[2])
	case "file":
		w.newest().files[unquoted(args[1])] = unquoted(args[2])
	case "many":
		server.makeMany(ts, number(ts, args[1]), ts.MkAbs(args[2]))
	case "lacks":
		w.lacks = args[1]
	case "archived":
		server.checkArchive(ts, args[1])
	case "forgets":
		server.forgets = true
	case "big":
		w.newest().files[args[1]] = strings.Repeat("0123456789abcde\n", number(ts, args[2])/16)
	case "title":
		w.title = unquoted(args[1])
	case "others":
		w.others = number(ts, args[1])
	case "lists":
		w.lists = args[1]
	case "has":
		if got := ts.ReadFile(args[2]); got != w.newest().files[args[1]] {
			ts.Fatalf("%s holds %q, %s is %q", args[2], got, args[1], w.newest().files[args[1]])
		}
	case "tree":
		server.checkTree(ts, ts.MkAbs(args[1]))
	}
}

// checkTree compares the newest revision with a folder, both ways.
func (server *fakeServer) checkTree(ts *testscript.TestScript, dir string) {
	files := server.world.newest().files
	for path, text := range files {
		got, err := os.ReadFile(dir + "/" + path)
		if err != nil || string(got) != text {
			ts.Fatalf("%s is %q in the artifact, %q in the folder (%v)", path, text, got, err)
		}
	}
	if n := countFiles(ts, os.DirFS(dir)); n != len(files) {
		ts.Fatalf("the artifact has %d files, the folder %d", len(files), n)
	}
}
