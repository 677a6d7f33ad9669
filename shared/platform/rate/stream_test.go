package rate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// fakeStreams holds streams by kind, subject and slot.
type fakeStreams struct {
	mu     sync.Mutex
	held   map[Stream]time.Time // by streams without Until
	broken string               // kind whose calls take effect and then fail
	taken  func(Stream)         // called before a slot is taken
	closed bool                 // a context had ended
}

func (s *fakeStreams) AcquireStream(
	_ context.Context,
	st Stream,
	most int,
	now time.Time,
) (free []int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != nil {
		s.taken(st)
	}
	of := func(slot int) Stream { return Stream{Kind: st.Kind, Subject: st.Subject, Slot: slot} }
	if !s.held[of(st.Slot)].After(now) {
		s.held[of(st.Slot)] = st.Until
		if s.broken == st.Kind {
			return nil, false, errors.New("the answer was lost")
		}
		return nil, true, nil
	}
	for n := range most {
		if !s.held[of(n)].After(now) {
			free = append(free, n)
		}
	}
	return free, false, nil
}

func (s *fakeStreams) ReleaseStream(ctx context.Context, st Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || ctx.Err() != nil
	of := Stream{Kind: st.Kind, Subject: st.Subject, Slot: st.Slot}
	if s.held[of].Equal(st.Until) {
		delete(s.held, of)
	}
	return nil
}

const large = limits.LargeStreamsAbove + 1

// newStreams caps two streams of an address and three of an artifact.
func newStreams() (*Streams, *fakeStreams, *time.Time) {
	l, now := limits.Default(), time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	l.AddressStreams, l.ArtifactStreams = 2, 3
	l.MediumAddressStreams, l.MediumArtifactStreams = 1, 1
	store := &fakeStreams{held: map[Stream]time.Time{}}
	return &Streams{Store: store, Limits: &l, Now: func() time.Time { return now }}, store, &now
}

func TestStreamsOfAnAddressAndOfAnArtifactAreCapped(t *testing.T) {
	s, store, _ := newStreams()
	a, b := id.NewArtifact(), id.NewArtifact()
	acquire := func(address string, of id.Artifact) (func(), error) {
		return s.Acquire(t.Context(), address, of, large)
	}
	release, err := acquire("1", a)
	_, err2 := acquire("1", b)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if _, err = acquire("1", b); fault.CodeOf(err) != fault.RateLimitedArtifact ||
		fault.Of(err).RetryAfter != streamWait {
		t.Errorf("the third stream of an address: %v", err)
	}
	if n := len(store.held); n != 4 {
		t.Errorf("a refused stream leaves %d slots taken, want 4", n)
	}
	release()
	release() // again, by another defer
	if _, err := acquire("1", b); err != nil {
		t.Errorf("after one was released: %v", err)
	}
	if _, err := acquire("2", b); err != nil {
		t.Errorf("of another address: %v", err)
	}
	if _, err := acquire("3", b); fault.CodeOf(err) != fault.RateLimitedArtifact {
		t.Errorf("the fourth stream of an artifact: %v", err)
	}
}

func TestStreamsOfMediumBodiesAreCountedApart(t *testing.T) {
	s, _, _ := newStreams()
	a := id.NewArtifact()
	for n, c := range []struct {
		size int64
		want fault.Code
	}{{large, ""}, {large - 1, ""}, {large, ""}, {large - 1, fault.RateLimitedArtifact}, {large, fault.RateLimitedArtifact}} {
		if _, err := s.Acquire(t.Context(), "1", a, c.size); fault.CodeOf(err) != c.want {
			t.Errorf("stream %d: %v", n, err)
		}
	}
}

func TestAStreamIsReleasedAfterItsRequestEnded(t *testing.T) {
	s, store, _ := newStreams()
	ctx, cancel := context.WithCancel(t.Context())
	release, err := s.Acquire(ctx, "1", id.NewArtifact(), large)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if release(); len(store.held) != 0 || store.closed {
		t.Errorf("%d slots are taken; the release was told to end: %t", len(store.held), store.closed)
	}
}

func TestAStreamWhoseAnswerIsLostIsReleasedAndRefused(t *testing.T) {
	for _, kind := range []string{addressStream, artifactStream} {
		s, store, _ := newStreams()
		store.broken = kind
		_, err := s.Acquire(t.Context(), "1", id.NewArtifact(), large)
		if fault.CodeOf(err) != fault.RateLimitedArtifact || fault.Of(err).RetryAfter <= 0 || len(store.held) != 0 {
			t.Errorf("%s: %v, and %d slots are taken", kind, err, len(store.held))
		}
	}
}

func TestAStreamThatNobodyReleasesEnds(t *testing.T) {
	s, _, now := newStreams()
	a := id.NewArtifact()
	for range 2 {
		if _, err := s.Acquire(t.Context(), "1", a, large); err != nil {
			t.Fatal(err)
		}
	}
	*now = now.Add(streamLife - 2*time.Millisecond)
	if _, err := s.Acquire(t.Context(), "1", a, large); err == nil {
		t.Error("a stream ended early")
	}
	*now = now.Add(2 * time.Millisecond)
	if _, err := s.Acquire(t.Context(), "1", a, large); err != nil {
		t.Error(err)
	}
}

// TestAStreamThatLosesEveryRaceIsRefused frees a slot before each attempt and takes it again.
func TestAStreamThatLosesEveryRaceIsRefused(t *testing.T) {
	s, store, now := newStreams()
	attempts := 0
	store.taken = func(st Stream) {
		if st.Kind != addressStream {
			return
		}
		attempts++
		for n := range 2 {
			delete(store.held, Stream{Kind: st.Kind, Subject: st.Subject, Slot: n})
		}
		store.held[Stream{Kind: st.Kind, Subject: st.Subject, Slot: st.Slot}] = now.Add(time.Minute)
	}
	_, err := s.Acquire(t.Context(), "1", id.NewArtifact(), large)
	if fault.CodeOf(err) != fault.RateLimitedArtifact || attempts != slotPolicy.Attempts {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}

func TestLimitsThatAreOffLiftStreams(t *testing.T) {
	s, store, _ := newStreams()
	s.Limits.Off = true
	for range 5 {
		if _, err := s.Acquire(t.Context(), "1", id.NewArtifact(), large); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.held) != 0 {
		t.Error("streams are counted")
	}
}
