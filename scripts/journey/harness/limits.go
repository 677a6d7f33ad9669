package harness

import (
	"maps"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// Unlimited lifts the rate limits; sizes and counts still hold.
func Unlimited(o *stack.Options) { o.Limits.Off = true }

// Plenty raises the limits of requests and reads beyond what a test sends, which are counted nevertheless.
func Plenty(o *stack.Options) {
	const many = 1 << 20
	l := &o.Limits
	l.Off = false
	l.Actor.Limit, l.Workspace.Limit = many, many
	l.Refused.Limit = many
	LimitReads(l, many)
}

// LimitReads sets the least limit of reads of an artifact for every tier.
func LimitReads(l *limits.Limits, reads int) {
	l.Tiers = maps.Clone(l.Tiers)
	for tier, policy := range l.Tiers {
		policy.Reads = reads
		l.Tiers[tier] = policy
	}
}

// WithPolicy changes the policy of unclaimed workspaces.
func WithPolicy(change func(*limits.Policy)) func(*limits.Limits) {
	return func(l *limits.Limits) {
		l.Tiers = maps.Clone(l.Tiers)
		p := l.Tiers[limits.Ephemeral]
		change(&p)
		l.Tiers[limits.Ephemeral] = p
	}
}

// ProvisionAgain provisions a workspace and returns the answer.
func ProvisionAgain(t *testing.T, p *BackendEnv, _ *wire.Agent) wire.Answer {
	return Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", nil)
}
