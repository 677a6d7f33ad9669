package workspace

import (
	"testing"
	"time"

	"vitrine/shared/platform/limits"
)

func TestThePlanCountsOnceAWorkspaceIsClaimed(t *testing.T) {
	for want, w := range map[limits.Tier]Workspace{
		limits.Ephemeral: {Plan: ProPlan},
		limits.Free:      {Plan: FreePlan, ClaimedAt: time.Unix(1, 0)},
		limits.Pro:       {Plan: ProPlan, ClaimedAt: time.Unix(1, 0)},
	} {
		if got := w.Tier(); got != want {
			t.Errorf("Tier of %+v = %s, want %s", w, got, want)
		}
	}
}

func TestEveryTierIsPromisedWhatIsBuilt(t *testing.T) {
	numbers := limits.Default()
	off := numbers
	off.Bundles = 0
	for tier := range numbers.Tiers {
		if p := UsagePolicy(&numbers, tier, nil); !p.LiveUpdateEnabled || !p.BundlesEnabled {
			t.Errorf("%s: live updates %t, bundles %t", tier, p.LiveUpdateEnabled, p.BundlesEnabled)
		}
		if UsagePolicy(&off, tier, nil).BundlesEnabled {
			t.Errorf("%s: promised bundles that the deployment turned off", tier)
		}
	}
}

func TestALifeIsChosenWithinTheBoundsOfTheTier(t *testing.T) {
	free := limits.Policy{DefaultLife: 3 * limits.Day, MinLife: limits.Day, MaxLife: 7 * limits.Day}
	roomy := limits.Policy{DefaultLife: 90 * limits.Day, MinLife: limits.Day, MaxLife: limits.Forever}
	for name, c := range map[string]struct {
		days int
		tier limits.Policy
		want time.Duration
	}{
		"no choice":                     {0, free, 3 * limits.Day},
		"a choice":                      {5, free, 5 * limits.Day},
		"forever":                       {limits.ForeverDays, roomy, limits.Forever},
		"nearly forever":                {limits.ForeverDays - 1, roomy, limits.Forever - limits.Day},
		"forever, then the tier shrank": {limits.ForeverDays, free, 7 * limits.Day},
	} {
		if got := (Workspace{AutoDays: c.days}).Life(c.tier); got != c.want {
			t.Errorf("%s: Life() = %s, want %s", name, got, c.want)
		}
	}
}

func TestForeverHasANumberOnTheWire(t *testing.T) {
	l := limits.Default()
	l.Tiers[limits.Free] = limits.Policy{DefaultLife: limits.Forever, MinLife: limits.Day, MaxLife: limits.Forever}
	const seconds = 24_000 * 86_400
	p := UsagePolicy(&l, limits.Free, nil)
	if p.DefaultTTLSeconds != seconds || p.MaxTTLSeconds != seconds || p.LiveArtifactsCap != 1 {
		t.Errorf("UsagePolicy() = %+v, want %d seconds of life, and a cap of pins above zero", p, seconds)
	}
}
