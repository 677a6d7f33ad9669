package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/patch"
)

func (server *fakeServer) create(w http.ResponseWriter, r *http.Request) {
	if !server.allowed(w, r) {
		return
	}
	var s contract.CreateSession
	body, _ := io.ReadAll(r.Body)
	last := r.Header.Get("Idempotency-Key") + string(body)
	if server.repeats(last) {
		answer(w, 200, server.sign())
		return
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || s.Files == nil {
		server.violation("create: %v, files %v", err, s.Files)
	}
	if !slices.IsSortedFunc(s.Files, func(a, b contract.DeclaredFile) int { return strings.Compare(a.Path, b.Path) }) {
		server.violation("create: the files are not in order")
	}
	server.checkBase(s)
	server.mu.Lock()
	server.opened = s
	server.order = nil
	server.files = map[string]*stored{}
	hook := server.onStart
	server.mu.Unlock()
	if hook != nil {
		hook()
	}
	if s.ArtifactID != "" && server.world.find(s.ArtifactID) == nil {
		plannedFault{status: 404, code: "artifact_not_found"}.answer("", w)
		return
	}
	server.mu.Lock()
	refused := server.isInTheWay(w, "; publish revision %s first, or wait until 2026-11-22T09:00:00Z")
	server.mu.Unlock()
	if refused || server.isUncounted(w, s) {
		return
	}
	server.begin(s, last)
	answer(w, 200, server.sign())
}

// repeats reports whether a call repeats the one that opened the session.
func (server *fakeServer) repeats(call string) bool {
	server.mu.Lock()
	defer server.mu.Unlock()
	return call == server.last
}

// sign returns the session with new URLs; the previous ones expire.
func (server *fakeServer) sign() contract.Session {
	server.mu.Lock()
	defer server.mu.Unlock()
	server.signed++
	out := server.session
	out.Files = slices.Clone(out.Files)
	for i, t := range out.Files {
		if server.signed > 1 && server.opened.Resumable && server.files[t.Path].there {
			out.Files[i] = contract.UploadTarget{Status: "reused", Path: t.Path}
		} else if t.Status == "upload_required" {
			out.Files[i].PutURL = fmt.Sprintf("%s/o/%03d?X-Amz-Signature=s3cret%d.%d", server.upload.URL, i, i, server.signed)
		}
	}
	return out
}

// isInTheWay answers 409 if the artifact of a session has a draft; the text may name it.
func (server *fakeServer) isInTheWay(w http.ResponseWriter, text string) bool {
	if server.opened.ArtifactID == "" {
		return false
	}
	draft, refused := server.world.refuses()
	if refused {
		text = strings.ReplaceAll("the artifact has an unpublished draft"+text, "%s", string(draft))
		answer(w, 409,
			contract.Envelope{Error: contract.Problem{Code: "draft_revision_conflict", Message: text, RequestID: peerID}})
	}
	return refused
}

// checkBase reports a manifest that no careful client sends: on the wrong base, empty, or with an entrypoint that
// would not exist.
func (server *fakeServer) checkBase(s contract.CreateSession) {
	has := func(path string) bool {
		return slices.ContainsFunc(s.Files, func(f contract.DeclaredFile) bool { return f.Path == path })
	}
	base := server.world.revision(s.BaseRevisionID)
	switch {
	case s.BaseRevisionID == "" && (len(s.DeletedPaths) > 0 || !has(s.Entrypoint)):
		server.violation("create: a whole manifest with the entrypoint %q, without %q", s.Entrypoint, s.DeletedPaths)
	case s.BaseRevisionID == "":
	case base == nil || s.ArtifactID != artifact || len(s.Files)+len(s.DeletedPaths) == 0:
		server.violation("create: the base %s of %q, %d files", s.BaseRevisionID, s.ArtifactID, len(s.Files))
	case !has(s.Entrypoint) && (base.files[s.Entrypoint] == "" || slices.Contains(s.DeletedPaths, s.Entrypoint)):
		server.violation("create: the entrypoint %q does not come out", s.Entrypoint)
	}
	for _, path := range s.DeletedPaths {
		if _, there := base.files[path]; !there || has(path) || path == base.entrypoint {
			server.violation("create: deletes %q", path)
		}
	}
	for _, f := range s.Files {
		if f.Patch == nil {
			continue
		}
		if base == nil || f.SHA256 != "" || f.Patch.Format != "unified" || f.Patch.BaseSHA256 != sum(base.files[f.Path]) {
			server.violation("create: the patch of %q", f.Path)
		}
	}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// begin opens a session for the declared files. Empty files and those of the newest revision are stored already.
func (server *fakeServer) begin(create contract.CreateSession, last string) {
	server.mu.Lock()
	defer server.mu.Unlock()
	out := contract.Session{
		UploadSessionID: sessionID,
		ArtifactID:      artifact,
		RevisionID:      server.nextRevision(),
		Status:          "pending",
		ExpiresAt:       contract.At(epoch.Add(time.Hour)),
	}
	known := map[string]string{}
	if create.ArtifactID != "" {
		for _, text := range server.world.newest().files {
			known[sum(text)] = text
		}
	}
	for _, f := range create.Files {
		server.order = append(server.order, f.Path)
		text, reused := known[f.SHA256]
		server.files[f.Path] = &stored{declared: f, bytes: []byte(text), there: reused || f.SizeBytes == 0}
		if server.files[f.Path].there {
			out.Files = append(out.Files, contract.UploadTarget{Status: "reused", Path: f.Path})
			continue
		}
		headers := map[string]string{"content-length": fmt.Sprint(f.SizeBytes), "if-none-match": "*"}
		if raw, err := hex.DecodeString(f.SHA256); err == nil && len(raw) == sha256.Size {
			headers["x-amz-checksum-sha256"] = base64.StdEncoding.EncodeToString(raw)
		} else if f.Patch == nil {
			server.wrong = append(server.wrong, "create: no digest for "+f.Path)
		}
		soon := contract.At(epoch.Add(15 * time.Minute))
		out.Files = append(out.Files, contract.UploadTarget{
			Status:          "upload_required",
			Path:            f.Path,
			ExpiresAt:       &soon,
			RequiredHeaders: headers,
		})
	}
	server.session = out
	server.last = last
	server.signed = 0
}

// nextRevision returns the id of the next revision.
func (server *fakeServer) nextRevision() id.Revision {
	if server.opened.ArtifactID == "" {
		return revision
	}
	return revisionID(len(server.world.revisions) + 1)
}

func (server *fakeServer) finalize(w http.ResponseWriter, _ *http.Request) {
	if server.isInTheWay(w, "") {
		return
	}
	for _, path := range server.order {
		if !server.files[path].there {
			answer(w, 409,
				contract.Envelope{Error: contract.Problem{Code: "upload_incomplete", Message: path, RequestID: peerID}})
			return
		}
	}
	draft := &snapshot{
		server.nextRevision(), server.opened.Title, server.opened.Entrypoint, server.merge(), server.mode(), server.listing(),
	}
	switch {
	case server.opened.ArtifactID != "":
		server.world.draft, server.world.yields = draft, 0
	case server.founds:
		server.founded = draft
	}
	answer(w, 200, contract.Finalized{
		UploadSessionID: sessionID,
		ArtifactID:      artifact,
		RevisionID:      draft.id,
		Status:          "draft",
		Title:           draft.title,
		FileCount:       len(draft.files),
		SizeBytes:       draft.size(),
	})
}

// mode returns the rendering mode of the result: the requested one, else that of the base.
func (server *fakeServer) mode() string {
	if base := server.world.revision(server.opened.BaseRevisionID); base != nil && server.opened.RenderMode == "" {
		return base.mode
	}
	return server.opened.RenderMode
}

// listing reports whether the result opens with the list of files, as its base does unless it names another entrypoint.
func (server *fakeServer) listing() bool {
	base := server.world.revision(server.opened.BaseRevisionID)
	return server.opened.Listing || base != nil && base.listing && base.entrypoint == server.opened.Entrypoint
}

// merge returns the files of the session on top of its base.
func (server *fakeServer) merge() map[string]string {
	out := map[string]string{}
	base := server.world.revision(server.opened.BaseRevisionID)
	if base != nil {
		maps.Copy(out, base.files)
	}
	for _, path := range server.opened.DeletedPaths {
		delete(out, path)
	}
	for path, f := range server.files {
		out[path] = string(f.bytes)
		if d := f.declared.Patch; d != nil {
			after, err := patch.Apply([]byte(base.files[path]), f.bytes, 1<<20)
			if err != nil || sum(string(after)) != d.ResultSHA256 || len(f.bytes) >= len(after) {
				server.wrong = append(server.wrong, fmt.Sprintf("finalize: the patch of %q gives %q (%v)", path, after, err))
			}
			out[path] = string(after)
		}
	}
	return out
}

func (server *fakeServer) publish(w http.ResponseWriter, r *http.Request) {
	draft := server.world.draft
	if draft == nil {
		draft = server.world.revision(id.Revision(r.PathValue("revision"))) // it is published already
	}
	if draft == nil { // of a new artifact
		draft = &snapshot{revision, server.opened.Title, server.opened.Entrypoint, nil, "", false}
	}
	if r.PathValue("artifact") != artifact || r.PathValue("revision") != string(draft.id) {
		server.wrong = append(server.wrong, "publish: "+r.URL.Path)
	}
	out := map[string]any{
		"artifact_id":          artifact,
		"revision_id":          draft.id,
		"title":                draft.title,
		"revision_content_url": "http://content.test/v/token/index.html",
		"agent_view_url":       server.api.URL + "/v1/public/agent-view/token",
		"expires_at":           contract.At(epoch.Add(24 * time.Hour)),
		"bundle":               contract.Bundle{Status: "disabled"},
	}
	if server.bearer == trialKey {
		out["unlisted_url"] = "http://app.test/al/0123456789ABCDEF#blob"
	} else {
		out["private_url"] = "http://app.test/v/" + artifact
	}
	for name, value := range server.result {
		out[name] = value
	}
	if r.ContentLength != 0 {
		var in contract.PublishRevision
		server.decode(r, &in)
		out["addressed"], out["skipped"] = dealtWith(in.Addresses)
	}
	switch {
	case draft == server.world.draft:
		server.world.release(draft)
	case server.founded != nil:
		server.world.title = draft.title
		server.world.revisions = []snapshot{*server.founded}
		server.founded = nil
	}
	answer(w, 200, out)
}
