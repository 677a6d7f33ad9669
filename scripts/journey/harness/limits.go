package harness

import (
	"maps"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// Unlimited lets one agent send as much as it wants; sizes and counts still hold.
func Unlimited(o *stack.Options) { o.Limits.Off = true }

// WithPolicy changes the numbers of unclaimed workspaces.
func WithPolicy(change func(*limits.Policy)) func(*limits.Limits) {
	return func(l *limits.Limits) {
		l.Tiers = maps.Clone(l.Tiers)
		p := l.Tiers[limits.Ephemeral]
		change(&p)
		l.Tiers[limits.Ephemeral] = p
	}
}

func PublishTwiceADay(t *testing.T, _ *BackendEnv, g *wire.Agent) wire.Answer {
	for range limits.AllowanceShards {
		PublishPage(t, g, "today")
	}
	last := DraftPage(t, g, "tomorrow")
	return TryPublish(t, g, wire.NewKey(), last.ArtifactID, last.RevisionID, nil)
}

func ProvisionAgain(t *testing.T, p *BackendEnv, _ *wire.Agent) wire.Answer {
	return Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", nil)
}
