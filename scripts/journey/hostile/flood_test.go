//go:build flood

package hostile

import (
	"bytes"
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// The numbers of a flood, and what it may cost a neighbour.
const (
	floodReaders  = 64
	floodPatience = 500 * time.Millisecond // of each reader
	neighbourTime = time.Second            // for a page of another workspace
	recoveryTime  = 2 * time.Second        // after a flood of functions that end themselves
)

// Readers who ask for one page and give up are no matter to the pages of another workspace. A function serves one
// request, so that 64 functions which make the longest page share the cores of this machine with the neighbour's; only
// a process that serves all readers can bound that.
func TestT91AFloodOfOneArtifactLeavesThePagesOfOthers(t *testing.T) {
	bodies := map[string][]byte{"nested quotations": bytes.Repeat([]byte(">"), 2<<20)}
	if os.Getenv("VITRINE_MODE") != "lambda" {
		const paragraph = "The tide **rises** and [falls](b.md), says `code`.\n\n"
		bodies["the longest document"] = bytes.Repeat([]byte(paragraph), 40_000)
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			d := harness.NewEnv(t, harness.Unlimited)
			page := func(body []byte) string {
				g := d.NewAgent(t)
				made := harness.Must(g.PublishFiles(ctx, "a", "", wire.File{Path: "a.md", Body: body}))(t)
				return viewOf(t, g, made).RenderedURL
			}
			hostile, neighbour := page(body), page([]byte("# Tides"))
			d.Get(t, neighbour)
			over := flood(d, hostile)
			if !d.Options.Lambda {
				for reads, flooding := 0, true; flooding || reads < 20; reads++ {
					wantQuick(t, d, neighbour)
					select {
					case <-over:
						flooding = false
					default:
					}
				}
				return
			}
			<-over
			after, cancel := context.WithTimeout(ctx, recoveryTime)
			defer cancel()
			if a, err := d.Anyone.Do(after, "GET", neighbour, nil); err != nil || a.Status != 200 {
				t.Fatalf("the page of a neighbour after the flood: %v, %d", err, a.Status)
			}
			wantQuick(t, d, neighbour)
		})
	}
}

func viewOf(t *testing.T, g *wire.Agent, made contract.Published) contract.AgentView {
	t.Helper()
	return harness.Must(g.AgentView(ctx, made.ArtifactID))(t)
}

// flood lets many readers ask for a page and give up. The channel is closed when all have.
func flood(d *harness.Env, url string) <-chan struct{} {
	var all sync.WaitGroup
	for range floodReaders {
		all.Go(func() {
			impatient, cancel := context.WithTimeout(ctx, floodPatience)
			defer cancel()
			_, _ = d.Anyone.Do(impatient, "GET", url, nil)
		})
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	return over
}

func wantQuick(t *testing.T, d *harness.Env, url string) {
	t.Helper()
	at := time.Now()
	if a := d.Get(t, url); a.Status != 200 {
		t.Errorf("the page of a neighbour: %d %s", a.Status, a.Body)
	}
	if took := time.Since(at); took > neighbourTime {
		t.Errorf("the page of a neighbour takes %v", took)
	}
}
