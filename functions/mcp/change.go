package mcp

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// changeTools change an artifact as a whole.
func (h *Host) changeTools() toolset {
	return toolset{h.deleteArtifact(), h.updateDisplayMetadata()}
}

func (h *Host) deleteArtifact() *tool {
	named := func(s subject) string { return string(s.Artifact) }
	return define(tool{
		name:  "delete_artifact",
		title: "Delete an artifact",
		description: "Delete an artifact with all revisions and links, at once and for good. " +
			"Ask the person first; nothing brings it back.",
		scopes:    publishing,
		effect:    effect{destroys: true, repeatable: true, openToWorld: true},
		input:     object(with("artifact_id", artifactID())),
		operation: idempotency.DeleteArtifact,
		target:    named,
		fixed:     func(s subject) string { return "mcp-delete:" + named(s) },
	}, func(ctx context.Context, c *call, in artifactInput) (result, error) {
		if a := c.Artifact; a != nil && a.Owner == c.Actor.Workspace.ID && a.Status == artifact.Live {
			ask, err := h.confirm(c, "Delete “"+a.Title+"” with all its revisions and links? Nothing brings it back.")
			if ask != nil || err != nil {
				return result{ask: ask}, err
			}
		}
		if err := c.permit(); err != nil {
			return result{}, err
		}
		at, err := h.Artifacts.Delete(ctx, c.Actor, c.target(in.Artifact))
		return result{
			value: contract.DeletedArtifact{ArtifactID: in.Artifact, DeletedAt: contract.At(at)},
			line:  "Deleted " + string(in.Artifact),
		}, err
	})
}

type renameInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Title    string      `json:"title"`
}

func (h *Host) updateDisplayMetadata() *tool {
	return define(tool{
		name:        "update_display_metadata",
		title:       "Rename an artifact",
		description: "Give an artifact another title. A later upload with a title replaces it.",
		scopes:      publishing,
		effect:      effect{repeatable: true},
		input:       object(with("artifact_id", artifactID()), with("title", text(1, limits.TitleRunes))),
	}, func(ctx context.Context, c *call, in renameInput) (result, error) {
		if err := c.permit(); err != nil {
			return result{}, err
		}
		if c.Artifact == nil {
			return result{}, artifact.NotFound()
		}
		title, err := h.Artifacts.Rename(ctx, c.Actor, c.Artifact, in.Title)
		return result{value: contract.DisplayMetadata{Title: title}, line: "It is called “" + title + "” now"}, err
	})
}

func (h *Host) whoami() *tool {
	return define(tool{
		name:        "whoami",
		title:       "Who am I",
		description: "Tell for which member and workspace this connection acts, and what the member may do.",
		effect:      effect{reads: true},
		input:       object(),
		output:      whoamiOut(),
	}, func(_ context.Context, c *call, _ struct{}) (result, error) {
		if c.Member == nil {
			return result{}, fault.NewCode(fault.Internal)
		}
		out := h.Account.Delegate(c.Actor, *c.Member)
		return result{value: out, line: out.WorkspaceMember.Email + " in " + out.Workspace.Name}, nil
	})
}

// whoamiOut is the schema of what whoami answers.
func whoamiOut() *jsonschema.Schema {
	return object(
		with("workspace_member", object(with("id", matching("^mem_"+idTail)), with("email", &jsonschema.Schema{Type: "string"}))),
		with("workspace", &jsonschema.Schema{Type: "object"}),
		with("scopes", list(oneOf(credential.ScopeStrings(allScopes)...), 0, len(allScopes))),
	)
}

// allScopes are the scopes that a member may have.
var allScopes = []credential.Scope{credential.Publish, credential.Read, credential.Admin}
