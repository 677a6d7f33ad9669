package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// workspaceState is the state of the fake server: one artifact with its revisions and links, and the names of others.
type workspaceState struct {
	title     string
	revisions []snapshot     // oldest first
	draft     *snapshot      // blocks other drafts; nil without one
	yields    int            // refusals after which another client publishes it; 0 for never
	drafts    map[string]int // routes before whose next call another client makes a draft, with yields
	deleted   bool
	pinned    bool
	lasts     bool // the artifact does not expire
	others    int  // artifacts that exist in the list only
	links     []contract.LinkRow
	minted    int
	lacks     string                // path of the file that cannot be read
	lenient   bool                  // returns an existing share link for every requested end
	lists     string                // changes the cursor of the next page, if not empty
	meanwhile map[string][]snapshot // revisions that other clients publish before the next calls of a route are answered
}

// snapshot is a published revision.
type snapshot struct {
	id         id.Revision
	title      string
	entrypoint string
	files      map[string]string
	mode       string // "" for html
	listing    bool
}

func (s *snapshot) size() (sum int64) {
	for _, text := range s.files {
		sum += int64(len(text))
	}
	return sum
}

// formerText is long enough for diffs to be smaller.
var formerText = "one\ntwo\nthree\nfour\nfive\nsix\n" + strings.Repeat("and so on\n", 40) +
	"fourteen\nfifteen\nsixteen\n"

func newWorkspaceState() workspaceState {
	w := workspaceState{meanwhile: map[string][]snapshot{}, drafts: map[string]int{}}
	w.add("What it was called", "index.html", map[string]string{
		"index.html": "<h1>One</h1>\n",
		"page.txt":   formerText,
		"old.txt":    "going\n",
		"logo.png":   "\x89PNG\x00one",
	})
	w.add("What it was called", "index.html", map[string]string{
		"index.html":   "<h1>Two</h1>\n",
		"page.txt":     strings.Replace(formerText, "three", "drei", 1),
		"logo.png":     "\x89PNG\x00two",
		"new page.txt": "fresh",
	})
	return w
}

// theirDraft is the id of another client's draft.
const theirDraft = "rev_00000000000000000000000099"

// overtake publishes what another client publishes at this moment, and makes its draft.
func (w *workspaceState) overtake(route string) {
	if yields, made := w.drafts[route]; made {
		delete(w.drafts, route)
		w.yields, w.draft = yields, &snapshot{
			theirDraft,
			w.title,
			"index.html",
			map[string]string{"index.html": "<h1>Draft</h1>\n"},
			"", false,
		}
	}
	queue := w.meanwhile[route]
	if len(queue) == 0 {
		return
	}
	w.meanwhile[route] = queue[1:]
	files := maps.Clone(w.newest().files)
	maps.Copy(files, queue[0].files)
	w.add(w.title, w.newest().entrypoint, files)
}

func revisionID(n int) id.Revision { return id.Revision(fmt.Sprintf("rev_%026d", 10+n)) }

func (w *workspaceState) add(title, entrypoint string, files map[string]string) {
	w.release(&snapshot{revisionID(len(w.revisions) + 1), title, entrypoint, files, "", false})
}

// release makes a draft the newest revision.
func (w *workspaceState) release(draft *snapshot) {
	w.title = draft.title
	w.revisions = append(w.revisions, *draft)
	if w.draft != nil && w.draft.id == draft.id {
		w.draft = nil
	}
}

// refuses reports whether a draft blocks the call, which its owner may publish after this.
func (w *workspaceState) refuses() (draft id.Revision, yes bool) {
	if w.draft == nil {
		return "", false
	}
	draft = w.draft.id
	if w.yields--; w.yields == 0 {
		w.release(w.draft)
	}
	return draft, true
}

// ends returns when the artifact expires, or would have if it is pinned.
func (w *workspaceState) ends() time.Time {
	if w.lasts {
		return limits.Never
	}
	if w.pinned {
		return epoch.Add(-time.Hour)
	}
	return epoch.Add(72 * time.Hour)
}

func (w *workspaceState) newest() *snapshot { return &w.revisions[len(w.revisions)-1] }

func (w *workspaceState) revision(r id.Revision) *snapshot {
	for i := range w.revisions {
		if w.revisions[i].id == r {
			return &w.revisions[i]
		}
	}
	return nil
}

// find returns the world if the artifact exists.
func (w *workspaceState) find(a id.Artifact) *workspaceState {
	if a != artifact || w.deleted {
		return nil
	}
	return w
}

func (server *fakeServer) list(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "c"))
	if err != nil || limit < 1 || limit > 100 {
		plannedFault{status: 400, code: "invalid_request"}.answer("", w)
		return
	}
	l := contract.ArtifactList{Data: []contract.ArtifactSummary{}}
	for i := from; i < min(from+limit, server.world.others+1) && !server.world.deleted; i++ {
		s := contract.ArtifactSummary{
			ID:         id.Artifact(fmt.Sprintf("art_%026d", 2+i)),
			Status:     "active",
			Title:      server.world.title,
			Entrypoint: "index.html",
			FileCount:  4,
			SizeBytes:  2048,
			ExpiresAt:  contract.At(server.world.ends()),
			CreatedAt:  contract.At(epoch),
			UpdatedAt:  contract.At(epoch),
		}
		if i == 0 {
			s.RevisionID = &server.world.newest().id
		}
		l.Data = append(l.Data, s)
	}
	if next := fmt.Sprintf("c%d", from+limit); from+limit < server.world.others+1 {
		l.PageInfo = contract.PageInfo{NextCursor: &next, HasMore: true}
	}
	if server.world.lists != "" {
		l.PageInfo = contract.PageInfo{NextCursor: &server.world.lists, HasMore: true}
	}
	answer(w, 200, l)
}

func (server *fakeServer) view(w http.ResponseWriter, r *http.Request) {
	s := server.world.newest()
	if named := r.PathValue("revision"); named != "" {
		s = server.world.revision(id.Revision(named))
	}
	if s == nil {
		notFound(w)
		return
	}
	page, ok := server.page(w, s, r.URL.Query().Get("files_cursor"))
	if !ok {
		return
	}
	v := contract.AgentView{PublicAgentView: page, PrivateURL: "http://app.test/v/" + artifact}
	v.EphemeralTier = server.bearer == trialKey
	answer(w, 200, v)
}

func (server *fakeServer) viewOf(s *snapshot) contract.PublicAgentView {
	v := contract.PublicAgentView{
		ArtifactID:         artifact,
		RevisionID:         s.id,
		Title:              server.world.title,
		CreatedAt:          contract.At(epoch),
		ExpiresAt:          contract.At(server.world.ends()),
		Entrypoint:         s.entrypoint,
		Listing:            s.listing,
		RevisionContentURL: server.content.URL + "/v/s3cret/" + s.entrypoint,
		SafetyWarnings:     []contract.SafetyWarning{},
		Bundle:             server.bundleOf(s),
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		v.Files = append(v.Files, contract.AgentViewFile{
			Path:        path,
			SizeBytes:   int64(len(s.files[path])),
			ContentType: typeOf(s.files[path]),
			SHA256:      sum(s.files[path]),
			URL:         server.content.URL + "/v/s3cret-" + string(s.id) + "/" + (&url.URL{Path: path}).EscapedPath(),
		})
	}
	return v
}

func typeOf(text string) string {
	if strings.Contains(text, "\x00") {
		return "image/png"
	}
	return "text/plain; charset=utf-8"
}

// largest is the longest text that the fake server returns as JSON.
const largest = 4000

func (server *fakeServer) file(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s := server.world.newest()
	if q.Has("revision_id") {
		s = server.world.revision(id.Revision(q.Get("revision_id")))
	}
	path := q.Get("path")
	if s == nil || !has(s.files, path) {
		notFound(w)
		return
	}
	text := s.files[path]
	f := contract.FileContent{
		Path:        path,
		SHA256:      sum(text),
		SizeBytes:   int64(len(text)),
		ContentType: typeOf(text),
		IsBinary:    !utf8.ValidString(text),
	}
	if !f.IsBinary && len(text) <= largest {
		f.Body = &text
	}
	answer(w, 200, f)
}

func has(files map[string]string, path string) bool {
	_, ok := files[path]
	return ok
}

// serve is the content host. It refuses credentials, because the URL is the permission.
func (server *fakeServer) serve(w http.ResponseWriter, r *http.Request) {
	server.mu.Lock()
	defer server.mu.Unlock()
	s := server.world.revision(id.Revision(strings.TrimPrefix(r.PathValue("token"), "s3cret-")))
	if s == nil || !has(s.files, r.PathValue("path")) || r.Header.Get("Accept") != "*/*" {
		server.wrong = append(server.wrong, "content: "+r.URL.Path)
		return
	}
	if r.PathValue("path") == server.world.lacks {
		plannedFault{status: 503, code: "storage_unavailable"}.answer("", w)
		return
	}
	text := s.files[r.PathValue("path")]
	if (r.Header.Get("Range") != "") != (len(text) > 32<<20) {
		server.wrong = append(server.wrong, fmt.Sprintf("content: %d bytes by %v", len(text), r.Header))
	}
	w.Header().Set("Content-Type", typeOf(text))
	w.Header().Set("ETag", `"`+string(s.id)+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}

func (server *fakeServer) listRevisions(w http.ResponseWriter, r *http.Request) {
	l := contract.RevisionList{ArtifactID: artifact}
	q := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "100"))
	from, err2 := strconv.Atoi(strings.TrimPrefix(cmp.Or(q.Get("cursor"), strconv.Itoa(len(server.world.revisions))), "c"))
	if err != nil || err2 != nil || limit < 1 || limit > 100 {
		plannedFault{status: 400, code: "invalid_request"}.answer("", w)
		return
	}
	if d := server.world.draft; d != nil && q.Get("cursor") == "" {
		l.Items = append(l.Items, contract.RevisionSummary{
			RevisionID: d.id,
			Status:     "draft",
			Entrypoint: d.entrypoint,
			RenderMode: "html",
			FileCount:  len(d.files),
			SizeBytes:  d.size(),
			CreatedAt:  contract.At(epoch),
		})
	}
	for i := from; i > max(0, from-limit); i-- {
		s, at := server.world.revisions[i-1], contract.At(epoch)
		l.Items = append(l.Items, contract.RevisionSummary{
			RevisionID:     s.id,
			RevisionNumber: &i,
			Status:         "published",
			Entrypoint:     s.entrypoint,
			RenderMode:     cmp.Or(s.mode, "html"),
			FileCount:      len(s.files),
			SizeBytes:      s.size(),
			CreatedAt:      at,
			PublishedAt:    &at,
		})
	}
	if next := fmt.Sprintf("c%d", from-limit); from > limit {
		l.PageInfo = contract.PageInfo{NextCursor: &next, HasMore: true}
	}
	answer(w, 200, l)
}

func (server *fakeServer) delete(w http.ResponseWriter, _ *http.Request) {
	server.world.deleted = true
	answer(w, 200, contract.DeletedArtifact{ArtifactID: artifact, DeletedAt: contract.At(epoch)})
}

func (server *fakeServer) pin(w http.ResponseWriter, r *http.Request) {
	server.world.pinned = strings.HasSuffix(r.URL.Path, "/pin")
	out := contract.WebArtifact{
		WebArtifactRow: contract.WebArtifactRow{
			ID:               artifact,
			Title:            server.world.title,
			Status:           "Published",
			LatestRevisionID: &server.world.newest().id,
			Pinned:           server.world.pinned,
		},
		Entrypoint: "index.html",
		FileCount:  4,
		SizeBytes:  2048,
	}
	if !server.world.pinned && !server.world.lasts {
		at := contract.At(epoch.Add(24 * time.Hour))
		out.AutoDeleteAt = &at
	}
	answer(w, 200, out)
}
