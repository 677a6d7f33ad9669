// Package workspace describes workspaces: which limits apply to one, and whether it may act.
package workspace

import (
	"slices"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Names that provisioning gives.
const (
	EphemeralName    = "Ephemeral workspace"
	EphemeralKeyName = "Ephemeral publish key"
)

// Plan is the plan of a claimed workspace.
type Plan string

// The plans.
const (
	FreePlan Plan = "free"
	ProPlan  Plan = "pro"
)

// Workspace owns artifacts and credentials.
type Workspace struct {
	ID          id.Workspace
	Name        string
	Plan        Plan
	CreatedAt   time.Time
	ClaimedAt   time.Time    // zero: ephemeral
	ClaimedInto id.Workspace // the workspace that a claim moved its contents to; empty if none
	MinExpiry   time.Time    // of a claimed workspace: the earliest expiry of what was live at the claim
	Lock        id.Lockdown  // operator lockdown; empty: none
	LockedAt    time.Time
	Epoch       int64 // credentials of another epoch are invalid
	// LoginsEndedAt ends every API key whose member had signed in by then when they created it; zero if there is none.
	LoginsEndedAt time.Time
	// KeysEndedAt does the same to API keys that do not record when their member signed in: it ends those created by
	// then.
	KeysEndedAt time.Time
	// EndedTerms are the terms of delegations that ended less than termMemory ago. Credentials of them are invalid;
	// older ones have expired.
	EndedTerms []EndedTerm
	AutoDays   int // default lifetime of artifacts in days; zero: the tier's default
	// DeletesAt is when the deletion begins that a member asked for; zero: none is asked for. Until then a member can
	// cancel it.
	DeletesAt time.Time
	// RemovedAt is when the deletion began, which ends the time to cancel it; zero: it has not begun.
	RemovedAt time.Time
}

// EndedTerm is a term of a delegation that has ended.
type EndedTerm struct {
	Term id.Term
	At   time.Time
}

// Ended reports whether a term of a delegation has ended lately.
func (w Workspace) Ended(t id.Term) bool {
	return slices.ContainsFunc(w.EndedTerms, func(e EndedTerm) bool { return e.Term == t })
}

// termMemory is how long a workspace knows which delegations ended.
const termMemory = 2 * limits.ProviderAgentLife

// EndTerms returns EndedTerms with further ones, and without those that ended too long ago to matter.
func (w Workspace) EndTerms(at time.Time, terms ...id.Term) []EndedTerm {
	since := at.Add(-termMemory)
	ended := slices.DeleteFunc(slices.Clone(w.EndedTerms), func(e EndedTerm) bool { return e.At.Before(since) })
	for _, t := range terms {
		ended = append(ended, EndedTerm{Term: t, At: at})
	}
	return ended
}

// Open reports whether credentials of the workspace work and its content may be read.
func (w Workspace) Open() bool { return w.Lock == "" && w.ClaimedInto == "" && !w.Deleting() }

// Until returns when an item of the workspace ends that would have ended at an instant by itself. A claim extends it
// to MinExpiry, but does not revive an item that had ended before the claim.
func (w Workspace) Until(end time.Time) time.Time {
	if w.ClaimedInto == "" || !end.After(w.ClaimedAt) || !end.Before(w.MinExpiry) {
		return end
	}
	return w.MinExpiry
}

// Tier returns which limits apply.
func (w Workspace) Tier() limits.Tier {
	if w.ClaimedAt.IsZero() {
		return limits.Ephemeral
	}
	return TierOf(w.Plan)
}

// TierOf returns which limits apply to a claimed workspace with a plan.
func TierOf(p Plan) limits.Tier {
	if p == ProPlan {
		return limits.Pro
	}
	return limits.Free
}

// Life returns the default lifetime of artifacts: what the workspace chose, within the bounds of its tier.
func (w Workspace) Life(p limits.Policy) time.Duration {
	if w.AutoDays == 0 {
		return p.DefaultLife
	}
	return min(max(time.Duration(w.AutoDays)*limits.Day, p.MinLife), p.MaxLife)
}

// Summary returns the wire form.
func (w Workspace) Summary() contract.WorkspaceSummary {
	return contract.WorkspaceSummary{ID: w.ID, Name: w.Name, CreatedAt: contract.At(w.CreatedAt)}
}

// UsagePolicy returns the limits of a tier. used counts today's first publishes; it is nil when the count cannot be
// read.
func UsagePolicy(l *limits.Limits, tier limits.Tier, used *int) contract.UsagePolicy {
	p := l.Tiers[tier]
	policy := contract.UsagePolicy{
		FileSizeCapBytes:           p.FileSize,
		ArtifactSizeCapBytes:       p.ArtifactSize,
		BundleSizeCapBytes:         p.BundleSize,
		FileCountCap:               p.FileCount,
		BundlesEnabled:             l.Bundles > 0,
		LiveUpdateEnabled:          true,
		ActorRateLimitPerMinute:    l.Actor.Limit,
		WorkspaceBurstCapPerMinute: l.Workspace.Limit,
		UploadSessionTTLSeconds:    contract.Seconds(limits.SessionLife),
		DefaultTTLSeconds:          contract.Seconds(p.DefaultLife),
		MinTTLSeconds:              contract.Seconds(p.MinLife),
		MaxTTLSeconds:              contract.Seconds(p.MaxLife),
		LiveArtifactsCap:           p.LiveArtifacts,
		DailyNewArtifactAllowance:  p.NewArtifactsPerDay,
		LifetimeRevisionCeiling:    p.Revisions,
	}
	if used != nil {
		left := max(0, p.NewArtifactsPerDay-*used)
		policy.DailyNewArtifactsRemaining = &left
	}
	return policy
}
