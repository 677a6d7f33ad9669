package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"vitrine/functions/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/lint"
)

// publishTools publish a text, or change one.
func (h *Host) publishTools() toolset {
	return toolset{h.publishArtifact(), h.addRevision(), h.multiEdit()}
}

// body is the schema of a file's text.
func (h *Host) body() *jsonschema.Schema {
	return told(text(1, limits.MCPText), "The whole text, at most "+manual.MostText(h.Limits)+" in UTF-8.")
}

func renderMode() *jsonschema.Schema {
	return told(oneOf(string(media.Text), string(media.Markdown), string(media.HTML)),
		"How it is shown: html becomes index.html, markdown index.md, text content.txt.")
}

func title() *jsonschema.Schema { return text(1, limits.TitleRunes) }

// publishOut is the schema of what the publishing tools answer.
func publishOut() *jsonschema.Schema {
	return object(
		with("artifact_id", artifactID()),
		with("revision_id", revisionID()),
		with("title", title()),
		with("private_url", addressURI()),
		with("expires_at", instant()),
		may("upload_stats", object(
			with("total_files", number()),
			with("total_bytes", number()),
			with("uploaded_files", number()),
			with("uploaded_bytes", number()),
			with("reused_files", number()),
			with("reused_bytes", number()),
		)),
	)
}

// revisedOut is publishOut with what became of the threads that a call addresses. Their form is left out, because the list
// of tools has to be short.
func revisedOut() *jsonschema.Schema {
	s := publishOut()
	for _, name := range []string{"addressed", "skipped"} {
		s.Properties[name] = &jsonschema.Schema{Type: "array"}
		s.PropertyOrder = append(s.PropertyOrder, name)
	}
	return s
}

// addressing are the arguments of tools that publish a revision.
type addressing struct {
	Addresses []contract.AddressThread `json:"addresses"`
}

func addresses() *jsonschema.Schema {
	of := func(kind string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind} }
	one := object(with("thread_id", of("string")), with("seq", of("integer")), may("note", of("string")))
	return told(list(one, 0, limits.AddressedThreads), "Threads that it deals with, with seq as catch_up told it.")
}

type publishInput struct {
	Title string     `json:"title"`
	Body  string     `json:"body"`
	Mode  media.Mode `json:"render_mode"`
}

func (h *Host) publishArtifact() *tool {
	return define(tool{
		name:  "publish_artifact",
		title: "Publish an artifact",
		description: "Publish one text as a new private artifact and get its link. " +
			"Use prepare_upload for several, binary or large files, and add_revision or multi_edit to change an artifact.",
		scopes: both,
		input: object(
			with("title", title()), with("body", h.body()), with("render_mode", renderMode()), may("idempotency_key", key())),
		output:    publishOut(),
		card:      true,
		operation: idempotency.CreateSession,
	}, func(ctx context.Context, c *call, in publishInput) (result, error) {
		out, err := h.Edits.Publish(ctx, c.Actor, c.edit(nil), in.Title, edit.Text{Body: in.Body, Mode: in.Mode})
		return h.published(c, out, err, true)
	})
}

type reviseInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Body     string      `json:"body"`
	Mode     media.Mode  `json:"render_mode"`
	addressing
}

func (h *Host) addRevision() *tool {
	return define(tool{
		name:  "add_revision",
		title: "Replace the main file",
		description: "Publish a new revision whose main file has this text. Title, other files and the link stay. " +
			"The same text again makes no revision.",
		scopes: both,
		input: object(with("artifact_id", artifactID()), with("body", h.body()), with("render_mode", renderMode()),
			may("addresses", addresses()), may("idempotency_key", key())),
		output:    revisedOut(),
		card:      true,
		operation: idempotency.CreateSession,
	}, func(ctx context.Context, c *call, in reviseInput) (result, error) {
		all, err := in.threads()
		if err != nil {
			return result{}, err
		}
		main := edit.Text{Body: in.Body, Mode: in.Mode}
		out, err := h.Edits.Revise(ctx, c.Actor, c.edit(all), c.Artifact, in.Artifact, main)
		return h.published(c, out, err, false)
	})
}

type editInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Path     string      `json:"path"`
	Edits    []struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	} `json:"edits"`
	addressing
}

func (h *Host) multiEdit() *tool {
	passage := object(
		with("old_string", text(1, limits.MCPText)),
		with("new_string", text(0, limits.MCPText)),
		may("replace_all", boolean()),
	)
	return define(tool{
		name:  "multi_edit",
		title: "Edit passages of a file",
		description: "Replace passages of one text file and publish the result as a new revision. Edits are literal and in " +
			"order; each old_string has to occur exactly once unless replace_all is true.",
		scopes: both,
		input: object(
			with("artifact_id", artifactID()),
			with("path", filePath()),
			with("edits", list(passage, 1, 100)),
			may("addresses", addresses()),
			may("idempotency_key", key()),
		),
		output:    revisedOut(),
		card:      true,
		operation: idempotency.CreateSession,
	}, func(ctx context.Context, c *call, in editInput) (result, error) {
		all, err := in.threads()
		if err != nil {
			return result{}, err
		}
		edits := make([]edit.Replacement, len(in.Edits))
		for i, e := range in.Edits {
			edits[i] = edit.Replacement{Old: e.Old, New: e.New, All: e.All}
		}
		out, err := h.Edits.Edit(ctx, c.Actor, c.edit(all), c.Artifact, in.Artifact, in.Path, edits)
		return h.published(c, out, err, false)
	})
}

func filePath() *jsonschema.Schema { return told(text(1, 4096), "As read_artifact lists it.") }

// threads returns the threads that a call addresses, as the core takes them.
func (a addressing) threads() ([]artifact.Address, error) {
	return feedback.Addresses(wire.Addresses(a.Addresses))
}

// edit returns the call as a request to the core.
func (c *call) edit(addresses []artifact.Address) edit.Request {
	return edit.Request{
		Client:      c.wants.Client,
		Derived:     c.derived,
		Fingerprint: c.print,
		Record:      c.Record,
		Addresses:   addresses,
		Permit:      c.permit,
	}
}

// published returns the answer of the publishing tools, with what the card shows in addition. fresh says that the call
// made the artifact.
func (h *Host) published(c *call, r edit.Result, err error, fresh bool) (result, error) {
	if err != nil {
		return result{}, err
	}
	p := r.Published
	out := contract.MCPPublished{
		ArtifactID: p.Artifact,
		RevisionID: p.Revision,
		Title:      p.Title,
		PrivateURL: p.PrivateURL,
		ExpiresAt:  contract.At(p.ExpiresAt),
		Stats: &contract.UploadStats{
			TotalFiles:    r.Stats.TotalFiles,
			TotalBytes:    r.Stats.TotalBytes,
			UploadedFiles: r.Stats.UploadedFiles,
			UploadedBytes: r.Stats.UploadedBytes,
			ReusedFiles:   r.Stats.ReusedFiles,
			ReusedBytes:   r.Stats.ReusedBytes,
		},
	}
	out.Addressed, out.Skipped = wire.Closed(p.Closed)
	line := p.Title + ": " + p.PrivateURL
	if !r.Changed {
		line = "Nothing changed, so there is no new revision. " + line
	}
	if fresh {
		line += " (private; set_visibility makes a link for people without an account)"
	}
	if n := len(out.Skipped); n > 0 {
		line += fmt.Sprintf(" (%d of the threads stay as they were; skipped tells why)", n)
	}
	nudge := h.nudge(p.ExpiresAt)
	if c.Artifact != nil && !c.Artifact.PinnedAt.IsZero() {
		nudge = ""
	}
	nudge = cmp.Or(h.warned(r.Warnings), waiting(p.Closed), nudge)
	return result{
		value: out,
		line:  line,
		nudge: nudge,
		meta:  h.cardMeta(c, fresh),
	}, nil
}

// waiting says how many threads are left open; empty: none, or they were not counted because the call addresses none.
func waiting(c *artifact.Closed) string {
	switch {
	case c == nil || c.Open == 0:
		return ""
	case c.Open == 1:
		return "1 thread of the artifact is open: catch_up lists it."
	}
	return fmt.Sprintf("%d threads of the artifact are open: catch_up lists them.", c.Open)
}

// warned describes the worst problem in the pages of a revision; empty if they work. The view lists all problems.
func (h *Host) warned(r lint.Report) string {
	n := r.Urgent()
	if n == 0 {
		return ""
	}
	worst, problems := r.Warnings[0], "1 problem"
	if n > 1 {
		problems = fmt.Sprintf("%d problems", n)
	}
	return fmt.Sprintf("The pages have %s, the worst in %s: %s. read_artifact lists them as page_warnings.",
		problems, placeOf(worst), worst.Message(h.Loads))
}

// placeOf returns the place of a finding on one line.
func placeOf(w lint.Warning) string {
	path := strconv.Quote(w.Path)
	if w.Line == 0 {
		return path
	}
	return path + " line " + strconv.Itoa(w.Line)
}
