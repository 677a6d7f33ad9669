// Package workspace describes workspaces, the limits that apply to them and whether they may act.
package workspace

import (
	"slices"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// The names that provisioning gives to workspaces and keys.
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
	ClaimedInto id.Workspace // the workspace that took over the contents by a claim; empty: none
	MinExpiry   time.Time    // with ClaimedInto: the earliest expiry of items that were live at the claim
	Lock        id.Lockdown  // operator lockdown; empty: none
	LockedAt    time.Time
	Epoch       int64 // credentials of another epoch are invalid
	// LoginsEndedAt ends every API key that a member made under a sign-in at or before it; zero: it ends none.
	LoginsEndedAt time.Time
	// KeysEndedAt does the same for API keys that do not record the sign-in of their member: it ends those created at or
	// before it.
	KeysEndedAt time.Time
	// EndedTerms are the terms of delegations that ended less than termMemory ago. Their credentials are invalid.
	// Credentials of terms that ended earlier have expired.
	EndedTerms []EndedTerm
	AutoDays   int // default lifetime of artifacts in days; zero: the tier's default
	// DeletesAt is when a deletion begins that a member asked for; zero: none. A member can cancel it until then.
	DeletesAt time.Time
	// RemovedAt is when the deletion began, after which it cannot be cancelled; zero: it has not begun.
	RemovedAt time.Time
	// SignIns are the last sign-ins of the members. They are an item of their own, which is read where callers are judged
	// by them; nil elsewhere, and in a workspace whose members have not signed in since they are recorded.
	SignIns map[id.Member]SignIn
}

// EndedTerm is a term of a delegation that has ended.
type EndedTerm struct {
	Term id.Term
	At   time.Time
}

// Ended reports whether a term of a delegation is in EndedTerms.
func (w Workspace) Ended(t id.Term) bool {
	return slices.ContainsFunc(w.EndedTerms, func(e EndedTerm) bool { return e.Term == t })
}

// EndTerms returns EndedTerms with terms added and without those that ended longer than termMemory ago.
// termMemory is how long a workspace knows which delegations ended.
const termMemory = 2 * limits.ProviderAgentLife

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

// Until returns when an item of the workspace ends whose own end is end. A claim extends it to MinExpiry, but does not
// revive an item that had ended before the claim.
func (w Workspace) Until(end time.Time) time.Time {
	if w.ClaimedInto == "" || !end.After(w.ClaimedAt) || !end.Before(w.MinExpiry) {
		return end
	}
	return w.MinExpiry
}

// Tier returns the tier whose limits apply.
func (w Workspace) Tier() limits.Tier {
	if w.ClaimedAt.IsZero() {
		return limits.Ephemeral
	}
	return TierOf(w.Plan)
}

// TierOf returns the tier of a claimed workspace with a plan.
func TierOf(p Plan) limits.Tier {
	if p == ProPlan {
		return limits.Pro
	}
	return limits.Free
}

// Life returns the default lifetime of artifacts: the choice of the workspace, within the bounds of its tier.
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

// UsagePolicy returns the limits of a tier. used counts today's first publications; nil: the count cannot be read.
func UsagePolicy(l *limits.Limits, tier limits.Tier, used *int) contract.UsagePolicy {
	p := l.Tiers[tier]
	policy := contract.UsagePolicy{
		FileSizeCapBytes:           p.FileSize,
		ArtifactSizeCapBytes:       p.ArtifactSize,
		BundleSizeCapBytes:         p.BundleSize(),
		FileCountCap:               p.FileCount,
		BundlesEnabled:             l.Bundles > 0,
		LiveUpdateEnabled:          true,
		ActorRateLimitPerMinute:    l.Actor.Limit,
		WorkspaceBurstCapPerMinute: l.Workspace.Limit,
		UploadSessionTTLSeconds:    contract.Seconds(limits.SessionLife),
		DefaultTTLSeconds:          contract.Seconds(p.DefaultLife),
		MinTTLSeconds:              contract.Seconds(p.MinLife),
		MaxTTLSeconds:              contract.Seconds(p.MaxLife),
		LiveArtifactsCap:           max(1, p.LiveArtifacts), // the contract has no zero
		DailyNewArtifactAllowance:  p.NewArtifactsPerDay,
		LifetimeRevisionCeiling:    p.Revisions,
	}
	if used != nil {
		left := max(0, p.NewArtifactsPerDay-*used)
		policy.DailyNewArtifactsRemaining = &left
	}
	return policy
}
