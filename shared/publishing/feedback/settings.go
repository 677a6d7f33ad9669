package feedback

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// SettingsChange is what a person decides anew; nil: it stays.
type SettingsChange struct {
	Off           *bool
	Links         *bool
	AtOnce        *bool
	AgentsResolve *bool
}

// apply returns settings after a change.
func (c SettingsChange) apply(to Settings) Settings {
	if c.Off != nil {
		to.Off = *c.Off
	}
	if c.Links != nil {
		to.Links = *c.Links
	}
	if c.AtOnce != nil {
		to.AtOnce = *c.AtOnce
	}
	if c.AgentsResolve != nil {
		to.AgentsResolve = *c.AgentsResolve
	}
	return to
}

// Set changes the settings of an artifact. It counts as no change of threads. Errors: artifact_not_found, forbidden,
// invalid_request.
func (s *Service) Set(ctx context.Context, by credential.Actor, t Target, change SettingsChange) (Settings, error) {
	if err := by.Require(credential.Admin); err != nil {
		return Settings{}, err
	}
	if change == (SettingsChange{}) {
		return Settings{}, fault.New(fault.InvalidRequest, "say what to change: policy, guests_held or agents_resolve")
	}
	if change.Links != nil && *change.Links && by.Workspace.Tier() == limits.Ephemeral {
		return Settings{}, fault.New(fault.Forbidden, "guests write in claimed workspaces alone; claim the workspace first")
	}
	return repeatable(ctx, s, by, t, func(a *artifact.Artifact) (Settings, error) {
		if err := s.readable(by, a); err != nil {
			return Settings{}, err
		}
		counts, _, err := s.Store.Threads(ctx, a.ID, nil)
		if err != nil {
			return Settings{}, err
		}
		c := Change{Before: counts, After: counts, Thread: Thread{Artifact: a.ID}}
		c.After.Settings = change.apply(counts.Settings)
		e := by.Record(s.now(), event.FeedbackPolicy, event.OnArtifact, string(a.ID), c.After.describe())
		return c.After.Settings, s.Store.SetSettings(ctx, commitOf(a, t, c, e, c.After.Settings))
	}, func(first Settings) (Settings, error) { return first, nil })
}

// describe tells settings in the record of what was done.
func (s Settings) describe() string {
	said := "on"
	switch {
	case s.Off:
		return "off"
	case s.Links && s.AtOnce:
		said = "on, for guests at once"
	case s.Links:
		said = "on, for guests too"
	}
	if s.AgentsResolve {
		return said + ", and agents resolve"
	}
	return said + ", and people resolve"
}
