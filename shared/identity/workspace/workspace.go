// Package workspace knows what a workspace is, which numbers apply to it, and whether it may act.
package workspace

import (
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Names of what provisioning makes.
const (
	EphemeralName    = "Ephemeral workspace"
	EphemeralKeyName = "Ephemeral publish key"
)

// Plan is what a claimed workspace pays for.
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
	ClaimedInto id.Workspace // where a claim moved everything; empty: nowhere
	MinExpiry   time.Time    // of a workspace that was claimed: nothing that lived then ends earlier
	Lock        id.Lockdown  // operator lockdown; empty: none
	LockedAt    time.Time
	Epoch       int64 // credentials of another epoch are dead
	// LoginsEndedAt ends every API key whose member was signed in by then when making it; zero: none.
	LoginsEndedAt time.Time
	// KeysEndedAt does the same to keys that do not tell when their member signed in: those that were made by then.
	KeysEndedAt time.Time
	AutoDays    int // how many days artifacts live unless asked otherwise; zero: the tier's default
}

// Open tells whether credentials of the workspace work and its content may be read.
func (w Workspace) Open() bool { return w.Lock == "" && w.ClaimedInto == "" }

// Until is when something of the workspace ends that would have ended at an instant by itself: a claim lets it live to
// the floor, but brings nothing back that had ended before.
func (w Workspace) Until(end time.Time) time.Time {
	if w.ClaimedInto == "" || !end.After(w.ClaimedAt) || !end.Before(w.MinExpiry) {
		return end
	}
	return w.MinExpiry
}

// Tier tells which numbers apply.
func (w Workspace) Tier() limits.Tier {
	switch {
	case w.ClaimedAt.IsZero():
		return limits.Ephemeral
	case w.Plan == ProPlan:
		return limits.Pro
	default:
		return limits.Free
	}
}

// Life is how long artifacts live unless asked otherwise: what the workspace chose, within the bounds of its tier.
func (w Workspace) Life(p limits.Policy) time.Duration {
	if w.AutoDays == 0 {
		return p.DefaultLife
	}
	return min(max(time.Duration(w.AutoDays)*limits.Day, p.MinLife), p.MaxLife)
}

// Summary is the wire form.
func (w Workspace) Summary() contract.WorkspaceSummary {
	return contract.WorkspaceSummary{ID: w.ID, Name: w.Name, CreatedAt: contract.At(w.CreatedAt)}
}

// UsagePolicy tells the limits of a tier; used is today's first publishes, nil when it cannot be read.
func UsagePolicy(l *limits.Limits, tier limits.Tier, used *int) contract.UsagePolicy {
	p := l.Tiers[tier]
	policy := contract.UsagePolicy{
		FileSizeCapBytes:           p.FileSize,
		ArtifactSizeCapBytes:       p.ArtifactSize,
		BundleSizeCapBytes:         p.BundleSize,
		FileCountCap:               p.FileCount,
		BundlesEnabled:             limits.BundlesEnabled,
		LiveUpdateEnabled:          limits.LiveUpdatesEnabled,
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
