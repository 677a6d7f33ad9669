package limits

import "testing"

func TestABundleIsAtMostAsLongAsItsArtifactMayBeAndAsLambdaStreams(t *testing.T) {
	for artifact, want := range map[int64]int64{
		25 * MiB:      25 * MiB,
		180 * MiB:     188_743_680,
		180*MiB + 1:   188_743_680,
		1024 * MiB:    188_743_680,
		25*MiB - 1000: 25*MiB - 1000,
	} {
		if got := (Policy{ArtifactSize: artifact}).BundleSize(); got != want || got >= 200_000_000 {
			t.Errorf("of an artifact of %d bytes: %d, want %d", artifact, got, want)
		}
	}
}
