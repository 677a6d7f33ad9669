package app

import (
	"encoding/json"
	"net/http"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/functions/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/leak"
	"vitrine/shared/publishing/leftout"
	"vitrine/shared/publishing/upload"
)

// uploadTime limits the answers about uploads, because finalizing reads the files. It is below the time limit of the
// function.
const uploadTime = 25 * time.Second

// uploadRoutes publish files that members send from their browser. Each wants an Idempotency-Key, which also keeps the
// forms of other sites out.
func (h *Host) uploadRoutes() []route {
	publishing := func(answer memberHandler) members {
		return members{call: answer, right: credential.Publish, limit: uploadTime}
	}
	const session, revision = "/api/upload-sessions", "/api/artifacts/{artifactId}/revisions/{revisionId}"
	return []route{
		{method: "POST", path: session, handle: publishing(h.createSession)},
		{method: "POST", path: session + "/{sessionId}/finalize", handle: publishing(h.finalizeSession)},
		{method: "POST", path: revision + "/publish", handle: publishing(h.publishDraft)},
	}
}

// fileRules are those of the command line.
var fileRules = map[string]any{
	"noise":       leftout.Noise,
	"folders":     leftout.SecretFolders,
	"files":       leftout.SecretFiles,
	"backups":     leftout.Backups,
	"entrypoints": leftout.Entrypoints,
	"secrets": map[string]any{
		"token":        credential.Form,
		"head":         leak.KeyHead,
		"gap":          leak.KeyGap,
		"header":       leak.KeyHeader,
		"body":         leak.KeyBody,
		"headers":      leak.MaxHeaders,
		"part_bytes":   leak.MaxPart,
		"secret_bytes": leak.MaxSecret,
	},
}

// uploadPart returns the part of a page that publishes files, and lets the page send them; nil for members without the
// right to publish.
func (h *Host) uploadPart(w http.ResponseWriter, v browserSession) *pages.Upload {
	if v.Actor.Require(credential.Publish) != nil {
		return nil
	}
	policy := w.Header().Get(policyHeader)
	if policy == policyNone {
		policy = policyPage
	}
	w.Header().Set(policyHeader, uploading(policy, h.PutOrigin))
	return &pages.Upload{Limits: h.limits(v), Rules: fileRules, OwnOrigins: h.Origins.Own != ""}
}

// callOf returns the command that a script carries out. body has the fields that make it another command.
func callOf(
	r *http.Request, v browserSession, operation idempotency.Operation, target string, body any,
) (idempotency.Command, error) {
	key := r.Header.Get("Idempotency-Key")
	if err := idempotency.CheckClient(key); err != nil {
		return idempotency.Command{}, err
	}
	return commandOf(v, operation, target, key, body)
}

// unchangedFiles answers files that an artifact has already.
type unchangedFiles struct {
	Unchanged id.Revision `json:"unchanged_revision_id"`
}

// createSession opens an upload session for whole files. It opens none if they change nothing in their artifact.
func (h *Host) createSession(w http.ResponseWriter, r *http.Request, v browserSession) error {
	asked, err := readFiles(w, r)
	if err != nil {
		return err
	}
	command, err := callOf(r, v, idempotency.CreateSession, "", asked)
	if err != nil {
		return err
	}
	same, err := h.Uploads.Unchanged(r.Context(), v.Actor, asked)
	if err != nil {
		return err
	}
	if same != "" {
		return writeJSON(w, http.StatusOK, unchangedFiles{same})
	}
	counted := func() error { return nil }
	made, err := h.Uploads.Create(r.Context(), v.Actor, command, nil, asked, counted, wire.SessionSize)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Session(made))
}

// readFiles reads the declaration of whole files. It ignores what only the contract of the API has.
func readFiles(w http.ResponseWriter, r *http.Request) (contract.CreateSession, error) {
	members, err := readObject(w, r, limits.JSONBody)
	if err != nil {
		return contract.CreateSession{}, err
	}
	var asked contract.CreateSession
	for name, to := range map[string]any{
		"artifact_id": &asked.ArtifactID, "title": &asked.Title, "entrypoint": &asked.Entrypoint,
		"listing": &asked.Listing, "app": &asked.App, "resumable": &asked.Resumable, "files": &asked.Files,
	} {
		if value, sent := members[name]; sent && json.Unmarshal(value, to) != nil {
			return contract.CreateSession{}, fault.New(fault.InvalidRequest, "%s has another type in the contract.", name)
		}
	}
	if _, err := asked.ArtifactID.Bits(); err != nil && asked.ArtifactID != "" {
		return contract.CreateSession{}, fault.New(fault.InvalidRequest, "artifact_id is not the id of an artifact.")
	}
	return asked, nil
}

// finalizeSession makes a draft of the files of a session. It does not take sessions with diffs, which only the upload
// host can read.
func (h *Host) finalizeSession(w http.ResponseWriter, r *http.Request, v browserSession) error {
	named := id.Session(r.PathValue("sessionId"))
	command, err := callOf(r, v, idempotency.FinalizeSession, string(named), nil)
	if err != nil {
		return err
	}
	session, entries, err := h.Uploads.Named(r.Context(), named)
	if err != nil {
		return err
	}
	if session == nil || session.Diffs {
		return fault.New(fault.NotFound, "no such upload session")
	}
	draft, err := h.Uploads.Finalize(r.Context(), v.Actor, upload.Attempt{
		Command: command,
		Session: session,
		Entries: entries,
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Finalized(draft, h.Loads))
}

// publishedDraft says where a member sees what was published.
type publishedDraft struct {
	ArtifactID id.Artifact `json:"artifact_id"`
	RevisionID id.Revision `json:"revision_id"`
	Path       string      `json:"path"`
}

// publishDraft makes a draft the newest revision of its artifact.
func (h *Host) publishDraft(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, revision := pathArtifact(r), id.Revision(r.PathValue("revisionId"))
	command, err := callOf(r, v, idempotency.PublishRevision, string(revision), nil)
	if err != nil {
		return err
	}
	p, err := h.Artifacts.PublishNamed(r.Context(), v.Actor, command, a, revision)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, publishedDraft{p.Artifact, p.Revision, artifactPath(p.Artifact)})
}
