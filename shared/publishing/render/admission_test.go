package render

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// readers ask one renderer for pages.
type readers struct {
	*Renderer
	t *testing.T
}

// stuck returns a source whose view cannot be cancelled and ends when the test closes release.
func stuck(w, a string, release <-chan struct{}) Source {
	s := sourceOf("a.md", "x")
	s.Workspace, s.Artifact = id.Workspace(w), id.Artifact(a)
	s.Open = func(context.Context, int64) (io.ReadCloser, error) {
		<-release
		return io.NopCloser(strings.NewReader("x")), nil
	}
	return s
}

// prompt is a file of an artifact that is shown at once.
func prompt(w, a string) Source {
	s := sourceOf("a.md", "x")
	s.Workspace, s.Artifact = id.Workspace(w), id.Artifact(a)
	return s
}

// ask starts a request for a page; the error comes with its answer.
func (r readers) ask(ctx context.Context, s Source) <-chan error {
	done := make(chan error, 1)
	go func() { done <- r.Page(ctx, io.Discard, s, Query{}) }()
	synctest.Wait()
	return done
}

// wantRefused asks for a page and wants to be told whose share is used up and when to come again.
func (r readers) wantRefused(s Source, whose string) {
	r.t.Helper()
	err := <-r.ask(r.t.Context(), s)
	f := fault.Of(err)
	if f.Code != fault.RateLimitedArtifact || f.RetryAfter <= 0 || !strings.Contains(f.Message, whose) {
		r.t.Errorf("got %v, want a refusal for %q", err, whose)
	}
}

func (r readers) wantPage(s Source) {
	r.t.Helper()
	if err := <-r.ask(r.t.Context(), s); err != nil {
		r.t.Error(err)
	}
}

// inBubble runs a test with a renderer, and checks that nothing is held at its end.
func inBubble(t *testing.T, test func(t *testing.T, c readers, release chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		c, release := readers{New(), t}, make(chan struct{})
		test(t, c, release)
		close(release)
		synctest.Wait()
		if r := c.admission; r.readers+r.runaways+len(r.views)+len(r.reserved) != 0 || r.memory != 0 {
			t.Errorf("still held: %+v", r)
		}
	})
}

func TestT91AnArtifactHasTwoPlacesAndAWorkspaceFour(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		for _, a := range []string{"1", "1", "2"} {
			c.ask(t.Context(), stuck("w", a, release))
		}
		c.wantRefused(prompt("w", "1"), "this artifact")
		c.ask(t.Context(), stuck("w", "3", release))
		c.wantRefused(prompt("w", "4"), "this workspace")
		c.wantPage(prompt("other", "5"))
	})
}

func TestAReaderWhoWaitsGetsThePlaceThatBecomesFree(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		first := make(chan struct{})
		c.ask(t.Context(), stuck("w", "1", first))
		c.ask(t.Context(), stuck("w", "1", release))
		third := c.ask(t.Context(), prompt("w", "1"))
		close(first)
		if err := <-third; err != nil {
			t.Error(err)
		}
	})
}

func TestT91AViewThatWasGivenUpHoldsThePlacesOfItsArtifactAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		for i := range 2 * maxReaders { // far more than there are slots
			ctx, leave := context.WithCancel(t.Context())
			left := c.ask(ctx, stuck("w", "1", release))
			leave()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("reader %d: %v", i, err)
			}
		}
		if c.admission.readers != 0 || c.admission.memory != 0 || c.admission.runaways != limits.ArtifactRenders {
			t.Errorf("%d readers, %d bytes, %d runaways", c.admission.readers, c.admission.memory, c.admission.runaways)
		}
		c.wantRefused(prompt("w", "1"), "this artifact")
		c.wantPage(prompt("w", "2"))
		c.wantPage(prompt("other", "3"))
	})
}

func TestT91AReaderOfAViewThatDoesNotEndGetsTheText(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		s := stuck("w", "1", release)
		blocked, opened := s.Open, atomic.Bool{}
		s.Open = func(ctx context.Context, size int64) (io.ReadCloser, error) {
			if opened.CompareAndSwap(false, true) {
				return blocked(ctx, size)
			}
			return io.NopCloser(strings.NewReader("x")), nil
		}
		var out strings.Builder
		if err := c.Page(t.Context(), &out, s, Query{}); err != nil {
			t.Error(err)
		}
		wantHas(t, out.String(), "it takes too long", "so this is its text")
		if a := c.admission; a.readers != 0 || a.memory != 0 || a.runaways != 1 {
			t.Errorf("afterwards %+v", a)
		}
	})
}

func TestT91TooManyViewsWithoutReadersStopNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		for i := range maxRunaways {
			ctx, leave := context.WithCancel(t.Context())
			name := string(rune('a' + i))
			left := c.ask(ctx, stuck(name, name, release))
			leave()
			<-left
		}
		var out strings.Builder
		if err := c.Page(t.Context(), &out, prompt("other", "1"), Query{}); err != nil {
			t.Error(err)
		}
		wantHas(t, out.String(), "other files take too long", "so this is its text")
		if n := c.admission.runaways; n != maxRunaways {
			t.Errorf("%d views go on", n)
		}
	})
}

func TestT91PagesReserveMemoryBeforeTheyParse(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		large := func(w string) Source {
			s := stuck(w, w, release)
			s.Path, s.File.Path, s.File.Size = "a.ipynb", "a.ipynb", maxNotebook
			return s
		}
		c.ask(t.Context(), large("1"))
		c.wantRefused(prompt("1", "2"), "this workspace")
		c.wantRefused(large("2"), "this deployment")
		c.wantPage(prompt("3", "3"))
		if c.admission.memory != maxWorkspaceMemory {
			t.Errorf("%d bytes are reserved", c.admission.memory)
		}
	})
}

func TestAReaderWaitsForAPlaceForPartOfItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		c.ask(t.Context(), stuck("w", "1", release))
		c.ask(t.Context(), stuck("w", "1", release))
		at := time.Now()
		c.wantRefused(prompt("w", "1"), "this artifact")
		if waited := time.Since(at); waited != maxWait {
			t.Errorf("it waits %v", waited)
		}
		ctx, leave := context.WithCancel(t.Context())
		waiting := c.ask(ctx, prompt("w", "1"))
		leave()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("one that leaves while it waits: %v", err)
		}
	})
}

func TestANotebookWithoutReaderEndsBetweenItsCells(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	s := sourceOf("a.ipynb", `{"cells":[{"cell_type":"raw","source":"x"}]}`)
	open := s.Open
	s.Open = func(ctx context.Context, size int64) (io.ReadCloser, error) {
		leave()
		return open(ctx, size)
	}
	if err := notebookView(ctx, s, new(body), Query{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSettleWaitsForViewsWithoutReaders(t *testing.T) {
	inBubble(t, func(t *testing.T, c readers, release chan struct{}) {
		if n := c.Settle(); n != 0 {
			t.Errorf("%d of none", n)
		}
		first := make(chan struct{})
		for i, r := range []chan struct{}{first, release} {
			ctx, leave := context.WithCancel(t.Context())
			left := c.ask(ctx, stuck("w", string(rune('a'+i)), r))
			leave()
			<-left
		}
		close(first)
		if n := c.Settle(); n != 1 {
			t.Errorf("%d go on", n)
		}
	})
}
