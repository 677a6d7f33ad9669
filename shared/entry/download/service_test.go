package download

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/release"
)

var (
	noon    = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	archive = release.File{Version: "0.2.0", Name: "vitrine_0.2.0_linux_arm64.tar.gz"}
	sums    = release.File{Version: "0.2.0", Name: release.Checksums}
	home    = netip.MustParseAddr("192.0.2.7")
)

// fakeObjects has every file.
type fakeObjects struct{ expires time.Time }

func (f *fakeObjects) ReleaseURL(_ context.Context, at release.File, expires time.Time) (string, error) {
	f.expires = expires
	return "https://upload.example/" + at.Path(), nil
}

// fakeCounters counts all events together by subject.
type fakeCounters struct {
	counts map[string]int
	err    error
}

func (f *fakeCounters) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	if f.err != nil || f.counts[w.Subject] >= limit {
		return 0, false, f.err
	}
	f.counts[w.Subject] += add
	return f.counts[w.Subject], true, nil
}

func newService(t *testing.T) (*Service, *fakeObjects, *fakeCounters) {
	t.Helper()
	numbers, now := limits.Default(), func() time.Time { return noon }
	peppers := expect.Value(keyring.New().Pepper.Derive("credential"))(t)
	objects, counters := &fakeObjects{}, &fakeCounters{counts: map[string]int{}}
	limiter := &rate.Limiter{
		Counters: counters,
		Limits:   &numbers,
		Host:     "app",
		Now:      now,
	}
	return &Service{
		Objects: objects,
		Limiter: limiter,
		Limits:  &numbers,
		Peppers: peppers,
		Now:     now,
	}, objects, counters
}

func TestAFileIsHadForFiveMinutes(t *testing.T) {
	s, objects, _ := newService(t)
	got, err := s.Locate(t.Context(), archive, home)
	if err != nil || got != "https://upload.example/cli/0.2.0/vitrine_0.2.0_linux_arm64.tar.gz" ||
		objects.expires != noon.Add(5*time.Minute) {
		t.Errorf("it is at %s until %s, %v", got, objects.expires, err)
	}
}

func TestAnAddressGets120ArchivesAnHourAndAllChecksums(t *testing.T) {
	s, _, counters := newService(t)
	for range 120 {
		expect.Value(s.Locate(t.Context(), archive, home))(t)
	}
	_, err := s.Locate(t.Context(), archive, home)
	if expect.Code(t, err, fault.RateLimitedActor); fault.Of(err).RetryAfter <= 0 {
		t.Errorf("it says %v and not when to come again", err)
	}
	expect.Value(s.Locate(t.Context(), sums, home))(t)
	expect.Value(s.Locate(t.Context(), archive, netip.MustParseAddr("198.51.100.9")))(t)

	counters.err = errors.New("out of reach")
	_, err = s.Locate(t.Context(), archive, netip.MustParseAddr("203.0.113.1"))
	expect.Code(t, err, fault.DatabaseUnavailable)
	expect.Value(s.Locate(t.Context(), sums, home))(t)
}

func TestAFileThatNoReleaseHasCostsNothing(t *testing.T) {
	s, objects, counters := newService(t)
	for _, f := range []release.File{{}, {Version: "0.2.0", Name: "notes.txt"}, {Version: "..", Name: release.Checksums}} {
		_, err := s.Locate(t.Context(), f, home)
		expect.Code(t, err, fault.NotFound)
	}
	if len(counters.counts) > 0 || !objects.expires.IsZero() {
		t.Errorf("counted are %v", counters.counts)
	}
}
