package faults

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// openStream opens a URL and gives the answer as it comes.
func openStream(t testing.TB, s *harness.FaultEnv, url string) *http.Response {
	t.Helper()
	answer := harness.Must(s.Anyone.HTTP.Get(url))(t)
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream answers %d", answer.StatusCode)
	}
	return answer
}

func TestF36ADeletionDuringAReadEndsAllReadsAfterIt(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	film := wire.File{Path: "film.mp4", Body: harness.RandomBytes(21, 10<<20)}
	p := harness.Must(g.PublishFiles(ctx, "film", "", film))(t)
	answer := openStream(t, s, p.RevisionContentURL)
	begun := make([]byte, 1000)
	harness.Must(io.ReadFull(answer.Body, begun))(t)
	harness.DeleteArtifact(t, g, p.ArtifactID)
	s.WantGone(t, p.RevisionContentURL)
	rest, err := io.ReadAll(answer.Body)
	whole := append(begun, rest...)
	if err == nil && !bytes.Equal(whole, film.Body) || err != nil && !bytes.HasPrefix(film.Body, whole) {
		t.Errorf("the read that was under way gives %d bytes, not those of the file (%v)", len(whole), err)
	}
	for _, url := range []string{p.RevisionContentURL, p.AgentViewURL} {
		harness.WantRefused(t, s.Get(t, url, "Range", "bytes=0-0"), 404, fault.NotFound)
	}
}

// TestF37AnObjectThatIsGoneIsNotFoundUnlessItIsInMemory deletes the object of a page as a purge will: while one is
// read, and when one was read.
func TestF37AnObjectThatIsGoneIsNotFoundUnlessItIsInMemory(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	read, kept := s.Upload(t, g, "", "read"), s.Upload(t, g, "", "kept")
	shown := map[id.Session]contract.Published{}
	for _, u := range []contract.Session{read, kept} {
		d := harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
		shown[u.UploadSessionID] = harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
	p := shown[read.UploadSessionID]
	late := s.Overtake(t, "GetObject", func() (wire.Answer, error) {
		return g.Do(ctx, "GET", p.RevisionContentURL, nil)
	}, func() {
		harness.DeleteArtifact(t, g, p.ArtifactID)
		deleteSessionObject(t, s, g, read.UploadSessionID, "000")
	})
	harness.WantRefused(t, late, 404, fault.NotFound)

	p = shown[kept.UploadSessionID]
	s.WantContent(t, p.RevisionContentURL, harness.Page("kept").Body)
	deleteSessionObject(t, s, g, kept.UploadSessionID, "000")
	s.WantContent(t, p.RevisionContentURL, harness.Page("kept").Body)
	harness.DeleteArtifact(t, g, p.ArtifactID)
	s.WantGone(t, p.RevisionContentURL)
}

func TestF62F63AnObjectStoreThatFailsIsUnavailableAndNothingLooksWhole(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	down := harness.PublishPage(t, g, "there")
	tries := s.Faults.On("GetObject").Always().Before(chaos.Throttle)
	if harness.WantRefused(t, s.Get(t, down.RevisionContentURL), 503, fault.StorageUnavailable); tries.Fired() != 3 {
		t.Errorf("tried %d times", tries.Fired())
	}
	s.Faults.Clear()
	s.Faults.On("GetObject").Times(2).Before(chaos.ServerError)
	s.WantContent(t, down.RevisionContentURL, harness.Page("there").Body)
	small := harness.PublishPage(t, g, "whole")
	film := wire.File{Path: "film.mp4", Body: harness.RandomBytes(22, 3<<20)}
	large := harness.Must(g.PublishFiles(ctx, "film", "", film))(t)
	for name, broken := range map[string]func(int64) chaos.Action{
		"a lost connection": chaos.Break,
		"a clean end":       chaos.Cut,
	} {
		for _, headers := range [][]string{nil, {"Range", "bytes=0-1"}} {
			s.Faults.On("GetObject").After(broken(2))
			a := s.Get(t, small.RevisionContentURL, headers...)
			if harness.WantRefused(t, a, 503, fault.StorageUnavailable); t.Failed() {
				t.Fatal(name)
			}
		}
		s.Faults.On("GetObject").After(broken(1 << 20))
		answer := openStream(t, s, large.RevisionContentURL)
		got, err := io.ReadAll(answer.Body)
		if answer.ContentLength != int64(len(film.Body)) || !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > 1<<20 ||
			!bytes.HasPrefix(film.Body, got) {
			t.Errorf("%s: %d of %d bytes end with %v", name, len(got), answer.ContentLength, err)
		}
	}
	s.WantContent(t, small.RevisionContentURL, harness.Page("whole").Body)
	s.WantContent(t, large.RevisionContentURL, film.Body)
}

func TestF18TheClientsClockIsNobodys(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("dated", harness.Page("dated"))))(t)
	for _, date := range []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2100 23:59:59 GMT", "yesterday"} {
		a := harness.PutAs(t, g, u.Files[0], harness.Page("dated").Body, "Date", date)
		if a.Status != http.StatusOK && a.Status != http.StatusPreconditionFailed {
			t.Errorf("a PUT on %s answers %d %.200s", date, a.Status, a.Body)
		}
		if a := harness.Do(t, g, "GET", s.Origins.API+"/v1/whoami", nil, "Date", date); a.Status != http.StatusOK {
			t.Errorf("on %s whoami answers %d", date, a.Status)
		}
	}
	harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}

// skew is how far the clocks of two functions may be apart.
const skew = 120 * time.Second

func TestF19TheClocksOfFunctionsMayDiffer(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := s.Upload(t, g, "", "ahead")
	s.Clock.Advance(-skew) // another function is behind
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	p := harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	s.WantContent(t, p.RevisionContentURL, harness.Page("ahead").Body)
	s.Clock.Advance(2 * skew) // or ahead
	s.WantContent(t, p.RevisionContentURL, harness.Page("ahead").Body)
	s.Clock.Advance(limits.EphemeralArtifact - 2*skew - time.Millisecond)
	s.WantContent(t, p.RevisionContentURL, harness.Page("ahead").Body)
	s.Clock.Advance(time.Millisecond) // at once on a clock that is right, and by the skew early or late on others
	s.WantGone(t, p.RevisionContentURL)
	s.Clock.Advance(-skew)
	s.WantContent(t, p.RevisionContentURL, harness.Page("ahead").Body)
}

func TestF54F55WhatTheTablesForgetLateIsJudgedByItsTime(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "stays stored")
	u := s.Upload(t, g, "", "stays stored")
	key := wire.NewKey()
	first := harness.Must(g.Create(ctx, key, wire.Declare("first", harness.Page("first"))))(t)
	s.Update(
		t, "K#"+string(harness.TokenOf(t, g).Public), "K", map[string]any{"exp": s.Options.Now().Add(2 * limits.ReplayLife)},
	)
	s.Clock.Advance(limits.ReplayLife - time.Second)
	harness.WantRefused(
		t, harness.Must(harness.Create(g, key, wire.Declare("second", harness.Page("second"))))(t),
		400, fault.InvalidIdempotencyKey,
	)
	harness.WantRefused(
		t, harness.Must(harness.Create(g, key, wire.Declare("first", harness.Page("first"))))(t),
		409, fault.UploadSessionExpired,
	)
	s.Clock.Advance(2 * time.Second)
	r := wire.Declare("second", wire.File{Path: "second.txt"})
	var second contract.Session
	if second = harness.Must(g.Create(ctx, key, r))(t); second.UploadSessionID == first.UploadSessionID {
		t.Error("a record that ended is replayed")
	}
	if again := harness.Must(g.Create(ctx, key, r))(t); again.UploadSessionID != second.UploadSessionID {
		t.Error("its successor is not")
	}
	harness.WantRefused(
		t, harness.Must(harness.Finalize(g, wire.NewKey(), u.UploadSessionID))(t), 409, fault.UploadSessionExpired,
	)
	s.WantGone(t, p.RevisionContentURL)
	s.Clock.Advance(2 * limits.ReplayLife)
	harness.WantRefused(t, harness.Do(t, g, "GET", s.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
}

// deleteSessionObject deletes an object of a session.
func deleteSessionObject(t testing.TB, s *harness.FaultEnv, g *wire.Agent, u id.Session, name string) {
	t.Helper()
	key := "o/" + string(harness.TokenOf(t, g).Workspace) + "/" + string(u) + "/" + name
	harness.Must(s.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Options.Engines.Bucket, Key: &key}))(t)
}

// TestF99ADraftIsMadeAlthoughItsPagesCannotBeRead reads the page to warn about it, in vain.
func TestF99ADraftIsMadeAlthoughItsPagesCannotBeRead(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for name, fails := range map[string]func(*chaos.Rule){
		"S3 cannot be reached":    func(r *chaos.Rule) { r.Before(chaos.Unreachable) },
		"S3 fails":                func(r *chaos.Rule) { r.Before(chaos.ServerError) },
		"the bytes end early":     func(r *chaos.Rule) { r.After(chaos.Cut(3)) },
		"the bytes break off":     func(r *chaos.Rule) { r.After(chaos.Break(3)) },
		"S3 does not answer":      func(r *chaos.Rule) { r.Before(chaos.Hold(make(chan struct{}))) },
		"the answers are dropped": func(r *chaos.Rule) { r.After(chaos.Timeout) },
	} {
		u := s.Upload(t, g, "", "<img src=gone.png>")
		fails(s.Faults.On("GetObject").Always())
		a := harness.Must(harness.Finalize(g, wire.NewKey(), u.UploadSessionID))(t)
		s.Faults.Clear()
		var draft contract.Finalized
		if harness.Decode(t, a, &draft); a.Status != http.StatusOK || len(draft.Warnings) > 0 {
			t.Errorf("%s: finalize answers %d %s", name, a.Status, a.Body)
		}
		harness.Must(g.Publish(ctx, wire.NewKey(), u.ArtifactID, u.RevisionID))(t)
	}
}
