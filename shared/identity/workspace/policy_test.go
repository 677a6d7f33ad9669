package workspace

import (
	"testing"

	"vitrine/shared/platform/limits"
)

func TestNoTierIsPromisedWhatIsNotBuilt(t *testing.T) {
	numbers := limits.Default()
	for tier := range numbers.Tiers {
		if p := UsagePolicy(&numbers, tier, nil); p.LiveUpdateEnabled || p.BundlesEnabled {
			t.Errorf("%s: live updates %t, bundles %t", tier, p.LiveUpdateEnabled, p.BundlesEnabled)
		}
	}
}
