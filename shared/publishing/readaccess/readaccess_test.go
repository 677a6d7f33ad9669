package readaccess

import (
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

func TestT57EveryClosedGateRefuses(t *testing.T) {
	now := time.Now()
	ws := id.NewWorkspace()
	art := id.NewArtifact()
	public := id.NewPublic()
	names := Query{Workspace: ws, Artifact: art, Link: public}
	state := func(f func(*workspace.Workspace, *artifact.Artifact, *link.Link)) State {
		w := &workspace.Workspace{ID: ws}
		a := &artifact.Artifact{
			ID:        art,
			Owner:     ws,
			Status:    artifact.Live,
			ExpiresAt: now.Add(time.Hour),
		}
		l := &link.Link{Public: public, Artifact: art, Kind: link.Share}
		f(w, a, l)
		return State{w, a, l}
	}
	type w = workspace.Workspace
	type a = artifact.Artifact
	type l = link.Link
	if !state(func(*w, *a, *l) {}).Allows(names, now) {
		t.Fatal("open gates refuse")
	}
	if !state(func(_ *w, a *a, _ *l) { a.ExpiresAt, a.PinnedAt = now.Add(-time.Hour), now }).Allows(names, now) {
		t.Error("a pinned artifact expires")
	}
	for name, closed := range map[string]State{
		"workspace gone":     {nil, state(func(*w, *a, *l) {}).Artifact, nil},
		"artifact gone":      {&w{}, nil, nil},
		"link gone":          {&w{ID: ws}, state(func(*w, *a, *l) {}).Artifact, nil},
		"workspace locked":   state(func(w *w, _ *a, _ *l) { w.Lock = "lkd" }),
		"workspace claimed":  state(func(w *w, _ *a, _ *l) { w.ClaimedInto = "other" }),
		"artifact deleted":   state(func(_ *w, a *a, _ *l) { a.Status = artifact.Deleted }),
		"artifact expired":   state(func(_ *w, a *a, _ *l) { a.ExpiresAt = now }),
		"artifact locked":    state(func(_ *w, a *a, _ *l) { a.Lock = "lkd" }),
		"artifact of others": state(func(_ *w, a *a, _ *l) { a.Owner = "other" }),
		"links off":          state(func(_ *w, a *a, _ *l) { a.LinksLockedAt = now }),
		"links closed":       state(func(_ *w, a *a, l *l) { a.LinksRevokedBefore, l.CreatedAt = now, now }),
		"link revoked":       state(func(_ *w, _ *a, l *l) { l.RevokedAt = now }),
		"link expired":       state(func(_ *w, _ *a, l *l) { l.ExpiresAt = now }),
		"link of another":    state(func(_ *w, _ *a, l *l) { l.Artifact = "other" }),
	} {
		if closed.Allows(names, now) {
			t.Errorf("%s: open", name)
		}
	}
}
