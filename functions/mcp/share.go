package mcp

import (
	"context"
	"fmt"

	"vitrine/functions/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// shareTools decide who sees an artifact.
func (h *Host) shareTools() toolset {
	return toolset{h.setVisibility(), h.createRevisionLink(), h.listAccessLinks(), h.revokeAccessLink()}
}

type visibilityInput struct {
	Artifact   id.Artifact `json:"artifact_id"`
	Visibility string      `json:"visibility"`
}

func (h *Host) setVisibility() *tool {
	return define(tool{
		name:  "set_visibility",
		title: "Share or make private",
		description: "unlisted makes a link that everybody who has it can open without an account: publishing to others is " +
			"this separate act, so ask the person first. private ends all links of the artifact.",
		scopes: both,
		effect: effect{destroys: true, repeatable: true, openToWorld: true},
		input: object(with("artifact_id", artifactID()),
			with("visibility", oneOf(sharing.Private, sharing.Unlisted))),
	}, func(ctx context.Context, c *call, in visibilityInput) (result, error) {
		a := c.Artifact // a recorded share link may have been revoked, so it does not mean that the artifact is public
		if in.Visibility == sharing.Unlisted && a != nil && a.Owner == c.Actor.Workspace.ID {
			ask, err := h.confirm(c, "Let everybody who has the link see “"+a.Title+"”, without an account?")
			if ask != nil || err != nil {
				return result{ask: ask}, err
			}
		}
		if err := c.permit(); err != nil {
			return result{}, err
		}
		v, err := h.Links.SetVisibility(ctx, c.Actor, c.target(in.Artifact), in.Visibility)
		line := "Private again: no link opens it"
		if v.Is == sharing.Unlisted {
			line = "Everybody who has this link sees it: " + v.URL
		}
		return result{value: wire.Visibility(v), line: line}, err
	})
}

type revisionLinkInput struct {
	Artifact id.Artifact `json:"artifact_id"`
	Revision id.Revision `json:"revision_id"`
}

func (h *Host) createRevisionLink() *tool {
	return define(tool{
		name:  "create_revision_link",
		title: "Link one revision",
		description: "Make a link that shows this one revision to everybody who has it, also after newer ones. " +
			"It makes the revision public, so ask the person first.",
		scopes:    both,
		effect:    effect{destroys: true, openToWorld: true},
		input:     object(with("artifact_id", artifactID()), with("revision_id", revisionID())),
		operation: idempotency.CreateLink,
		target:    func(s subject) string { return string(s.Artifact) },
	}, func(ctx context.Context, c *call, in revisionLinkInput) (result, error) {
		if a := c.Artifact; a != nil && a.Owner == c.Actor.Workspace.ID {
			ask, err := h.confirm(c, "Let everybody who has the link see one revision of “"+a.Title+"”, without an account?")
			if ask != nil || err != nil {
				return result{ask: ask}, err
			}
		}
		if err := c.permit(); err != nil {
			return result{}, err
		}
		url, err := h.revisionLink(ctx, c, in)
		return result{
			value: contract.MintedLink{URL: url},
			line:  "Everybody who has this link sees it: " + url,
		}, err
	})
}

// again is the suffix of the key for a link that replaces one that was revoked after the first call.
const again = ":r"

// revisionLink makes a link and returns its URL. If the call is repeated, Create returns the link of the first call,
// which may have been revoked since. Then revisionLink makes another link.
func (h *Host) revisionLink(ctx context.Context, c *call, in revisionLinkInput) (string, error) {
	t := c.target(in.Artifact)
	asked := sharing.Request{Kind: link.Revision, Revision: in.Revision}
	for attempt := 0; ; attempt++ {
		made, err := h.Links.Create(ctx, c.Actor, t, asked)
		if err != nil {
			return "", err
		}
		fresh, err := h.Links.Address(ctx, c.Actor, made.ID)
		if fault.CodeOf(err) != fault.NotFound || attempt > 0 {
			return fresh.URL, err
		}
		t.Command.Key.Client += again
		t.Record = nil
	}
}

func (h *Host) listAccessLinks() *tool {
	return define(tool{
		name:        "list_access_links",
		title:       "List access links",
		description: "List the access links of an artifact, revoked ones included.",
		scopes:      both,
		effect:      effect{reads: true},
		input:       object(with("artifact_id", artifactID())),
	}, func(ctx context.Context, c *call, in artifactInput) (result, error) {
		links, err := h.Links.List(ctx, c.Actor, c.target(in.Artifact))
		if err != nil {
			return result{}, err
		}
		out := contract.LinkList{ArtifactID: in.Artifact, Items: contract.Rows(links, wire.LinkRow)}
		return result{value: out, line: fmt.Sprintf("%d links", len(links))}, nil
	})
}

type linkInput struct {
	Link id.Link `json:"access_link_id"`
}

func (h *Host) revokeAccessLink() *tool {
	return define(tool{
		name:        "revoke_access_link",
		title:       "Revoke a link",
		description: "End an access link at once and for good, with every page that was opened through it.",
		scopes:      publishing,
		effect:      effect{destroys: true, repeatable: true, openToWorld: true},
		input:       object(with("access_link_id", linkID())),
	}, func(ctx context.Context, c *call, in linkInput) (result, error) {
		if err := c.permit(); err != nil {
			return result{}, err
		}
		at, err := h.Links.Revoke(ctx, c.Actor, in.Link)
		return result{
			value: contract.RevokedLink{AccessLinkID: in.Link, RevokedAt: contract.At(at)},
			line:  "The link opens nothing any more",
		}, err
	})
}
