package budget

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// TestALargeBodyStaysWithinItsBudget reads one file at the size from which streams are counted, and one above it. The
// two slots are taken beside the GET from S3, and given back in a round trip that comes after the last byte.
func TestALargeBodyStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	l.owner = l.NewAgent(t)
	urls := map[int]string{}
	for _, size := range []int{1 << 20, 2 << 20} {
		urls[size] = harness.Must(l.owner.PublishFiles(ctx, "Large", "", wire.File{
			Path: "large.bin",
			Body: harness.RandomBytes(uint64(size>>20), size),
		}))(t).RevisionContentURL
		l.wantStatus(t, l.Anyone, 200, "HEAD", urls[size]) // the files of the revision are known then
	}
	l.wantWithin(t, "content, 1 MB", budget{3, 2, 2, 1}, func() { l.wantStatus(t, l.Anyone, 200, "GET", urls[1<<20]) })
	l.wantWithin(t, "content, 2 MB", budget{7, 3, 2, 5}, func() { l.wantStatus(t, l.Anyone, 200, "GET", urls[2<<20]) })
	l.wantWithin(t, "content, 1 MB of 2", budget{3, 2, 2, 1}, func() {
		l.wantStatus(t, l.Anyone, 206, "GET", urls[2<<20], "Range", "bytes=0-1048575")
	})
}
