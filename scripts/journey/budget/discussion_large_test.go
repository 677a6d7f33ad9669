//go:build large

package budget

import "testing"

// mostThreads stay below what an artifact may have, 2,000 with 10,000 messages of 8 MiB, by what the test itself
// writes.
const mostThreads = 1_990

// TestThreadsOfTheLargestArtifactTakeLittleMore also looks at the memory that an export takes: the function has 1,024
// MB and makes two at once. -v prints the table of docs/performance.md.
func TestThreadsOfTheLargestArtifactTakeLittleMore(t *testing.T) {
	one, _ := measured(t, 1)
	some, _ := measured(t, 100)
	most, peak := measured(t, mostThreads)
	most.wantAsOf(t, one)
	table(t, one, some, most)
	t.Logf("the export takes %d MB", peak>>20)
	if peak > 300<<20 {
		t.Error("it holds the threads more than once")
	}
}
