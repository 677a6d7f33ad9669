package crowd

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

// newWorker starts a site in which a person has signed in.
func newWorker(t *testing.T) *Worker {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it starts engines and a stack of its own")
	}
	s := &Site{Data: t.TempDir(), Faults: chaos.New()}
	t.Cleanup(func() { expect.OK(t, s.Stop(context.Background())) })
	expect.OK(t, s.Start(t.Context()))
	c := expect.Value(New(t.Context(), s, rand.New(rand.NewPCG(0, 0)), 2))(t)
	w := c.Workers[1]
	expect.OK(t, w.Join(t.Context()))
	return w
}

// found returns how many differences the check of a worker's publications and key finds, and what it counts.
func (w *Worker) found(t *testing.T, instant time.Time) (int, Figures) {
	t.Helper()
	c := &check{Outcome: Outcome{Instant: instant, Events: true}, w: w}
	for _, a := range w.Current.Artifacts {
		c.artifact(t.Context(), a)
	}
	c.key(t.Context(), &w.Current.Key)
	return len(c.wrong), c.Figures
}

// TestEveryLossIsFound checks that a check sees what it looks for, on a site on which nothing was restored.
func TestEveryLossIsFound(t *testing.T) {
	w := newWorker(t)
	for range 4 {
		expect.OK(t, w.Publish(t.Context(), w.Current))
	}
	all := w.Current.Artifacts
	expect.OK(t, w.Share(t.Context(), all[0]), w.Share(t.Context(), all[1]), w.Revoke(t.Context(), all[1]),
		w.Delete(t.Context(), all[2]), w.read(t.Context(), all[0]))
	instant := time.Now()
	if n, f := w.found(t, instant); n != 0 || f != (Figures{Published: 4, Kept: 3, Deleted: 1, Ended: 2}) {
		t.Fatalf("%d differences are found where nothing was lost: %+v", n, f)
	}
	if len(w.losses) != 0 {
		t.Errorf("nothing was lost, and reading finds %v", w.losses)
	}
	worked, live := *w.Current, *all[0]
	wrong := map[string]func(){
		"a publication that is lost": func() { all[0].revisions[0].content = all[2].revisions[0].content },
		"other bytes":                func() { all[0].revisions[0].text = "other" },
		"a deletion that is undone":  func() { all[0].Deleted.set(nil) },
		"a link that is lost":        func() { all[0].links[0].url = all[1].links[0].url },
		"a revocation that is undone": func() {
			all[0].links = []*link{{url: live.links[0].url, revoked: Mark{at: instant}}}
		},
		"a key that is lost":     func() { w.Current.Key.agent = with(w.anyone, "unknown") },
		"a key that lives again": func() { w.Current.Key.revoked.set(nil) },
	}
	for name, change := range wrong {
		t.Run(name, func(t *testing.T) {
			all[0].revisions, all[0].links = []revision{live.revisions[0]}, []*link{{
				public: live.links[0].public,
				url:    live.links[0].url,
				made:   live.links[0].made,
			}}
			change()
			if n, _ := w.found(t, instant); n == 0 {
				t.Error("it is not found")
			}
			w.Current.Key, all[0].Deleted = worked.Key, Mark{}
		})
	}
	all[0].revisions[0].published = instant.Add(time.Second)
	all[0].revisions[0].content = all[2].revisions[0].content
	if _, f := w.found(t, instant); f.Since != 1 || f.Lost != 1 || f.Window != time.Second {
		t.Errorf("of publications since, these are lost: %+v", f)
	}
	if err := w.read(t.Context(), all[0]); err != nil || len(w.losses) != 1 {
		t.Errorf("a worker who reads what is lost finds %v (%v)", w.losses, err)
	}
}
