// Package workspace knows what a workspace is, which numbers apply to it, and whether it may act.
package workspace

import (
	"time"

	"vitrine/shared/contract"
	"vitrine/shared/id"
	"vitrine/shared/limits"
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
	ID        id.Workspace
	Name      string
	Plan      Plan
	CreatedAt time.Time
	ClaimedAt time.Time    // zero: ephemeral
	Into      id.Workspace // where a claim moved everything; empty: nowhere
	Lock      id.Lockdown  // operator lockdown; empty: none
	Epoch     int64        // credentials of another epoch are dead
}

// Open tells whether credentials of the workspace work and its content may be read.
func (w Workspace) Open() bool { return w.Lock == "" && w.Into == "" }

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

// Summary is the wire form.
func (w Workspace) Summary() contract.WorkspaceSummary {
	return contract.WorkspaceSummary{ID: w.ID, Name: w.Name, CreatedAt: contract.At(w.CreatedAt)}
}

// UsagePolicy tells the limits of a tier; used is today's first publishes, nil when it cannot be read.
func UsagePolicy(l *limits.Limits, tier limits.Tier, used *int) contract.UsagePolicy {
	p := l.Tiers[tier]
	policy := contract.UsagePolicy{
		FileSizeCapBytes: p.FileSize, ArtifactSizeCapBytes: p.ArtifactSize, BundleSizeCapBytes: p.BundleSize,
		FileCountCap: p.FileCount, BundlesEnabled: limits.BundlesEnabled, LiveUpdateEnabled: p.LiveUpdates,
		ActorRateLimitPerMinute: l.Actor.Limit, WorkspaceBurstCapPerMinute: l.Workspace.Limit,
		UploadSessionTTLSeconds: seconds(limits.SessionLife), DefaultTTLSeconds: seconds(p.DefaultLife),
		MinTTLSeconds: seconds(p.MinLife), MaxTTLSeconds: seconds(p.MaxLife), LiveArtifactsCap: p.LiveArtifacts,
		DailyNewArtifactAllowance: p.NewArtifactsPerDay, LifetimeRevisionCeiling: p.Revisions,
	}
	if used != nil {
		left := max(0, p.NewArtifactsPerDay-*used)
		policy.DailyNewArtifactsRemaining = &left
	}
	return policy
}

func seconds(d time.Duration) int { return int(d / time.Second) }
