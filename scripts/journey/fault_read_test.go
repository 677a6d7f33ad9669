package journey

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// stream opens a URL and gives the answer as it comes.
func (s *faultStand) stream(t testing.TB, url string) *http.Response {
	t.Helper()
	answer := must(s.anyone.HTTP.Get(url))(t)
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream answers %d", answer.StatusCode)
	}
	return answer
}

func TestF36ADeletionDuringAReadEndsAllReadsAfterIt(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	film := wire.File{Path: "film.mp4", Body: noise(21, 10<<20)}
	p := must(g.PublishFiles(ctx, "film", "", film))(t)
	answer := s.stream(t, p.RevisionContentURL)
	begun := make([]byte, 1000)
	must(io.ReadFull(answer.Body, begun))(t)
	if a := tryDelete(t, g, p.ArtifactID); a.Status != http.StatusOK {
		t.Fatalf("deleting answers %d", a.Status)
	}
	s.gone(t, p.RevisionContentURL)
	rest, err := io.ReadAll(answer.Body)
	whole := append(begun, rest...)
	if err == nil && !bytes.Equal(whole, film.Body) || err != nil && !bytes.HasPrefix(film.Body, whole) {
		t.Errorf("the read that was under way gives %d bytes, not those of the file (%v)", len(whole), err)
	}
	for _, url := range []string{p.RevisionContentURL, p.AgentViewURL} {
		refused(t, s.get(t, url, "Range", "bytes=0-0"), 404, fault.NotFound)
	}
}

func TestF37AnObjectThatIsGoneWhenItsGateWasOpenIsNotFound(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "overtaken")
	d := must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	p := must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	late := s.overtaken(t, "GetObject", func() (wire.Answer, error) { return g.Do(ctx, "GET", p.RevisionContentURL, nil) }, func() {
		tryDelete(t, g, p.ArtifactID)
		s.erase(t, g, u.UploadSessionID, "000") // as a purge will
	})
	refused(t, late, 404, fault.NotFound)
}

func TestF62AnObjectStoreThatDoesNotAnswerIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	p := published(t, s.agent(t), "there")
	for name, failing := range map[string]chaos.Action{"SlowDown": chaos.Throttle, "500": chaos.ServerError, "no connection": chaos.Unreachable} {
		tries := s.faults.On("GetObject").Always().Before(failing)
		if refused(t, s.get(t, p.RevisionContentURL), 503, fault.StorageUnavailable); tries.Fired() != 3 {
			t.Errorf("%s: tried %d times", name, tries.Fired())
		}
		s.faults.Clear()
		s.faults.On("GetObject").Times(2).Before(failing)
		s.reads(t, p.RevisionContentURL, page("there").Body)
		s.faults.Clear()
	}
}

func TestF63AFileThatBreaksOffNeverLooksWhole(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	film := wire.File{Path: "film.mp4", Body: noise(22, 3<<20)}
	p := must(s.agent(t).PublishFiles(ctx, "film", "", film))(t)
	for name, broken := range map[string]chaos.Action{"a lost connection": chaos.Break(1 << 20), "a clean end": chaos.Cut(1 << 20)} {
		s.faults.On("GetObject").After(broken)
		answer := s.stream(t, p.RevisionContentURL)
		got, err := io.ReadAll(answer.Body)
		if answer.ContentLength != int64(len(film.Body)) || !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > 1<<20 || !bytes.HasPrefix(film.Body, got) {
			t.Errorf("%s: %d of %d bytes end with %v", name, len(got), answer.ContentLength, err)
		}
	}
	s.faults.On("GetObject").After(chaos.Cut(0))
	if a, err := s.anyone.Do(ctx, "GET", p.RevisionContentURL, nil); err == nil {
		t.Errorf("without a byte it answers %d with %d bytes", a.Status, len(a.Body))
	}
	s.reads(t, p.RevisionContentURL, film.Body)
}

func TestF18TheClientsClockIsNobodys(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := must(g.Create(ctx, wire.NewKey(), wire.Declare("dated", page("dated"))))(t)
	for _, date := range []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2100 23:59:59 GMT", "yesterday"} {
		a := putAs(t, g, u.Files[0], page("dated").Body, "Date", date)
		if a.Status != http.StatusOK && a.Status != http.StatusPreconditionFailed {
			t.Errorf("a PUT on %s answers %d %.200s", date, a.Status, a.Body)
		}
		if a := do(t, g, "GET", s.Origins.API+"/v1/whoami", nil, "Date", date); a.Status != http.StatusOK {
			t.Errorf("on %s whoami answers %d", date, a.Status)
		}
	}
	must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}

// skew is how far the clocks of two functions may be apart.
const skew = 120 * time.Second

func TestF19TheClocksOfFunctionsMayDiffer(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "ahead")
	s.clock.pass(-skew) // another function is behind
	d := must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	p := must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	s.reads(t, p.RevisionContentURL, page("ahead").Body)
	s.clock.pass(2 * skew) // or ahead
	s.reads(t, p.RevisionContentURL, page("ahead").Body)
	s.clock.pass(limits.EphemeralArtifact - 2*skew - time.Millisecond)
	s.reads(t, p.RevisionContentURL, page("ahead").Body)
	s.clock.pass(time.Millisecond) // at once on a clock that is right, and by the skew early or late on others
	s.gone(t, p.RevisionContentURL)
	s.clock.pass(-skew)
	s.reads(t, p.RevisionContentURL, page("ahead").Body)
}

// TestF19ALeaseOfAClockThatIsBehindEndsEarlyAndHarmsNobody has the lease of a function that is behind end while it works.
func TestF19ALeaseOfAClockThatIsBehindEndsEarlyAndHarmsNobody(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "leased")
	key := wire.NewKey()
	s.clock.pass(-skew)
	var second wire.Answer
	first := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.finalize(g, key, u.UploadSessionID) }, func() {
		s.clock.pass(skew)
		second = tryFinalize(t, g, key, u.UploadSessionID)
	})
	if second.Status != http.StatusOK {
		t.Errorf("the one with the right clock answers %d %s", second.Status, second.Code())
	}
	once(t, []wire.Answer{first, second})
}

func TestF54F55WhatTheTablesForgetLateIsJudgedByItsTime(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	p := published(t, g, "stays stored")
	u := s.uploaded(t, g, "", "stays stored")
	key := wire.NewKey()
	first := must(g.Create(ctx, key, wire.Declare("first", page("first"))))(t)
	s.change(t, "K#"+string(parsed(t, g).Public), "K", map[string]any{"exp": s.options.Now().Add(2 * limits.ReplayLife)})
	s.clock.pass(limits.ReplayLife - time.Second)
	refused(t, tryCreate(t, g, key, wire.Declare("second", page("second"))), 400, fault.InvalidIdempotencyKey)
	refused(t, tryCreate(t, g, key, wire.Declare("first", page("first"))), 409, fault.UploadSessionExpired)
	s.clock.pass(2 * time.Second)
	r := wire.Declare("second", wire.File{Path: "second.txt"})
	var second contract.Session
	if second = must(g.Create(ctx, key, r))(t); second.UploadSessionID == first.UploadSessionID {
		t.Error("a record that ended is replayed")
	}
	if again := must(g.Create(ctx, key, r))(t); again.UploadSessionID != second.UploadSessionID {
		t.Error("its successor is not")
	}
	refused(t, tryFinalize(t, g, wire.NewKey(), u.UploadSessionID), 409, fault.UploadSessionExpired)
	s.gone(t, p.RevisionContentURL)
	s.clock.pass(2 * limits.ReplayLife)
	refused(t, do(t, g, "GET", s.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
}
