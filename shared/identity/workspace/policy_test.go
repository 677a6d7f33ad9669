package workspace

import (
	"testing"

	"vitrine/shared/platform/limits"
)

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
