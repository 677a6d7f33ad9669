package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/upload"
)

// maxFiles is the largest number of files that a tool takes, because an answer has an address and a command line for
// each of them.
const maxFiles = 100

// uploadTools publish files that are sent by PUT.
func (h *Host) uploadTools() toolset {
	return toolset{h.prepareUpload(), h.publishUpload()}
}

type prepareInput struct {
	Title      string         `json:"title"`
	Files      []preparedFile `json:"files"`
	Artifact   id.Artifact    `json:"artifact_id"`
	Entrypoint string         `json:"entrypoint"`
	Listing    bool           `json:"listing"`
	App        *bool          `json:"app"`
}

type preparedFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

func (h *Host) prepareUpload() *tool {
	size := number()
	most := float64(limits.SchemaFile)
	size.Maximum = &most
	file := object(
		with("path", text(1, 4096)),
		with("size_bytes", size),
		may("sha256", matching(digestPattern)),
		may("content_type", told(text(1, 200), "Not used: the extension of the path decides.")),
	)
	return define(tool{
		name:  "prepare_upload",
		title: "Upload files",
		description: "Declare the files of a new artifact, or of a new revision of artifact_id, and get a PUT address with a " +
			"curl line for each. Send sha256 to skip bytes that are known. Then call publish_upload. More than 100 files, or " +
			"large ones: the vitrine CLI.",
		scopes: both,
		input: object(
			with("title", title()),
			with("files", list(file, 1, maxFiles)),
			may("artifact_id", artifactID()),
			may("entrypoint", told(text(1, 4096), "The file that opens first; index.html, index.md or README.md where there is one.")),
			may("listing", told(boolean(), "Open the list of files first, images as a gallery; so it is for several files of which "+
				"none is named to open first.")),
			may("app", told(boolean(), "Whether it is an app of one page, which answers for paths that no file has; left out, its "+
				"pages decide.")),
			may("idempotency_key", key()),
		),
		operation: idempotency.CreateSession,
		// Each call gets a new session. An equal call must not be served by an old one: an unpublished session has no
		// effect yet, and a published one belongs to earlier files.
		fixed: func(subject) string { return "mcp-upload:" + rand.Text() },
	}, func(ctx context.Context, c *call, in prepareInput) (result, error) {
		made, err := h.Uploads.Create(ctx, c.Actor, c.command(), c.Record, in.session(), c.permit, nil)
		if err != nil {
			return result{}, err
		}
		out := prepared(made)
		return result{
			value: out,
			line:  fmt.Sprintf("%d files to upload, %d known; then call publish_upload", len(out.Files), len(out.Known)),
		}, nil
	})
}

// session returns the request for an upload session. A revision replaces all files of the artifact.
func (p prepareInput) session() contract.CreateSession {
	first := cmp.Or(p.Entrypoint, entrypointOf(p.Files))
	s := contract.CreateSession{
		ArtifactID: p.Artifact,
		Title:      p.Title,
		Entrypoint: cmp.Or(first, p.Files[0].Path),
		Listing:    p.Listing || first == "" && len(p.Files) > 1,
		App:        p.App,
		Files:      make([]contract.DeclaredFile, len(p.Files)),
	}
	for i, f := range p.Files {
		s.Files[i] = contract.DeclaredFile{Path: f.Path, SizeBytes: f.Size, SHA256: f.SHA256}
	}
	return s
}

// entrypoints are the names of files that open first, by preference.
var entrypoints = []string{"index.html", "index.htm", "index.md", "README.md", "readme.md"}

// entrypointOf returns the file that opens first if the caller names none; empty: none has such a name.
func entrypointOf(files []preparedFile) string {
	for _, name := range entrypoints {
		if slices.ContainsFunc(files, func(f preparedFile) bool { return f.Path == name }) {
			return name
		}
	}
	return ""
}

// prepared returns instructions to upload the files of a session.
func prepared(made upload.Created) contract.MCPUpload {
	out := contract.MCPUpload{
		UploadSessionID: made.Session.ID,
		ArtifactID:      made.Session.Artifact,
		RevisionID:      made.Session.Revision,
		ExpiresAt:       contract.At(made.Session.ExpiresAt),
		Files:           []contract.MCPUploadFile{},
		Known:           []string{},
	}
	for _, f := range made.Files {
		if f.Put.URL == "" {
			out.Known = append(out.Known, f.Path)
			continue
		}
		out.Files = append(out.Files, contract.MCPUploadFile{
			Path:            f.Path,
			PutURL:          f.Put.URL,
			RequiredHeaders: f.Put.Headers,
			Curl:            curl(f),
			ExpiresAt:       contract.At(f.Put.Expires),
		})
	}
	return out
}

// curl returns the command line that uploads a file. It must run in the folder in which the file has the path that it
// has in the artifact. The argument begins with ./ because curl reads stdin for the name -.
func curl(f upload.Target) string {
	var b strings.Builder
	b.WriteString("curl -fsS -X PUT")
	for _, name := range slices.Sorted(maps.Keys(f.Put.Headers)) {
		if !strings.EqualFold(name, "content-length") { // curl sends this header itself
			b.WriteString(" -H " + quoted(name+": "+f.Put.Headers[name]))
		}
	}
	b.WriteString(" --data-binary " + quoted("@./"+f.Path) + " " + quoted(f.Put.URL))
	return b.String()
}

// quoted quotes a word for a POSIX shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

type sessionInput struct {
	Session id.Session `json:"upload_session_id"`
	addressing
}

func (h *Host) publishUpload() *tool {
	named := func(s subject) string { return string(s.Session) }
	return define(tool{
		name:        "publish_upload",
		title:       "Publish uploaded files",
		description: "Verify the files of an upload session and publish them. Calling it again gives the same result.",
		scopes:      both,
		effect:      effect{repeatable: true},
		input:       object(with("upload_session_id", sessionID()), may("addresses", addresses())),
		output:      revisedOut(),
		card:        true,
		operation:   idempotency.FinalizeSession,
		target:      named,
		fixed:       func(s subject) string { return "mcp-publish:" + named(s) },
	}, func(ctx context.Context, c *call, in sessionInput) (result, error) {
		all, err := in.threads()
		if err != nil {
			return result{}, err
		}
		if c.Session == nil || c.Session.Workspace != c.Actor.Workspace.ID {
			return result{}, fault.New(fault.NotFound,
				"no such upload session in this workspace; call prepare_upload")
		}
		out, err := h.Edits.Finish(ctx, c.Actor, c.edit(all), c.Session, c.Entries)
		return h.published(c, out, err, c.Session.New)
	})
}
