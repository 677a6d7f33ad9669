package wire

import (
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/view"
)

// PublicAgentView returns a view for the holder of a signed token or link.
func PublicAgentView(v view.View) contract.PublicAgentView {
	out := contract.PublicAgentView{
		ArtifactID:         v.Artifact.ID,
		RevisionID:         v.Revision.ID,
		Title:              v.Title,
		CreatedAt:          contract.At(v.Artifact.CreatedAt),
		ExpiresAt:          contract.At(v.Artifact.ExpiresAt),
		Entrypoint:         v.Revision.Entrypoint,
		Listing:            v.Revision.Listing,
		App:                v.Revision.App.Is(),
		RevisionContentURL: v.Entrypoint.Bytes,
		RenderedURL:        v.Entrypoint.Page,
		TextURL:            v.Entrypoint.Text,
		Files:              contract.Rows(v.Files, agentViewFile),
		FilesNextCursor:    v.Next,
		SafetyWarnings:     []contract.SafetyWarning{},
		Bundle:             Bundle(v.Bundle),
		EphemeralTier:      v.Ephemeral,
	}
	if len(v.Files) < len(v.Tree) {
		out.FilesTotal, out.SizeTotal = len(v.Tree), v.Tree.Size()
	}
	return out
}

func agentViewFile(f view.File) contract.AgentViewFile {
	return contract.AgentViewFile{
		Path:        f.Path,
		SizeBytes:   f.Size,
		ContentType: media.Of(f.Path).ContentType,
		URL:         f.URLs.Bytes,
		SHA256:      f.SHA256.String(),
		RenderedURL: f.URLs.Page,
		TextURL:     f.URLs.Text,
	}
}

// AgentView returns a view for a credential of the owner, where pages may load from these hosts.
func AgentView(v view.View, by credential.Actor, loads media.Sources) contract.AgentView {
	found := v.Revision.WarningsFor(by.Policy)
	return contract.AgentView{
		PublicAgentView:     PublicAgentView(v),
		PrivateURL:          v.PrivateURL,
		Lockdown:            lockdowns(by, &v.Artifact),
		PageWarnings:        found.Wire(loads),
		PageWarningsOmitted: found.More,
	}
}

// lockdowns returns the locks in effect for a member; nil if there are none.
func lockdowns(by credential.Actor, a *artifact.Artifact) *contract.ViewLockdowns {
	w := by.Workspace
	if by.Member == "" || a.LinksLockedAt.IsZero() && a.Lock == "" && w.Lock == "" {
		return nil
	}
	return &contract.ViewLockdowns{
		AccessLink: contract.Locked{Locked: !a.LinksLockedAt.IsZero(), LockedAt: contract.AtOrNull(a.LinksLockedAt)},
		Platform: contract.ViewPlatforms{
			Workspace: contract.Locked{Locked: w.Lock != "", LockedAt: contract.AtOrNull(w.LockedAt)},
			Artifact:  contract.Locked{Locked: a.Lock != "", LockedAt: contract.AtOrNull(a.LockedAt)},
		},
	}
}

// Resolved returns what an access link opens.
func Resolved(v view.View) contract.Resolved {
	return contract.Resolved{
		AgentView:  PublicAgentView(v),
		RenderMode: string(v.Revision.Mode),
		IframeSrc:  v.Frame,
		Title:      v.Title,
		Pinned:     !v.Artifact.PinnedAt.IsZero(),
	}
}

// FileContent returns a file, with its text if the answer has room for it.
func FileContent(f view.FileText) (contract.FileContent, error) {
	out := contract.FileContent{
		Path:        f.Path,
		SHA256:      f.SHA256.String(),
		SizeBytes:   f.Size,
		ContentType: media.Of(f.Path).ContentType,
		IsBinary:    f.Binary,
		Body:        f.Text,
	}
	if f.Text == nil {
		return out, nil
	}
	fits, err := fitsAnswer(out)
	if !fits {
		out.Body = nil
	}
	return out, err
}

// fitsAnswer reports whether an answer stays within InlineAnswer and within what a Lambda function may answer. The
// second limit applies to every host, so that a file reads the same everywhere.
func fitsAnswer(out contract.FileContent) (bool, error) {
	encoded, err := contract.Encode(out)
	if err != nil || len(encoded) > limits.InlineAnswer {
		return false, err
	}
	size, _ := limits.FunctionBody(encoded)
	return size <= limits.FunctionAnswer-limits.FunctionFrame, nil
}
