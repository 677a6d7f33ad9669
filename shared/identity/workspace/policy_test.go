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
