package journey

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// eraseItem deletes an item of core, as its end does in time.
func (s *faultStand) eraseItem(t testing.TB, pk, sk string) {
	t.Helper()
	key := stored{}
	alter(key, map[string]any{"pk": pk, "sk": sk})
	must(s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.names.Core, Key: key}))(t)
}

// end is when an item of a session is deleted, in seconds; empty: never.
func (s *jobStand) end(t testing.TB, u id.Session, sk string) string {
	t.Helper()
	if ttl := s.item(t, "U#"+string(u), sk)["ttl"]; ttl != nil {
		return strconv.Itoa(parsedNumber(t, ttl))
	}
	return ""
}

func TestSessionsLeaveTheTablesWhenNobodyAsksForThemAgain(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	reuses := s.borrowsAlone(t, m.Agent, "")
	second := finishes(t, m.Agent, reuses)
	brings := s.uploaded(t, m.Agent, "", "brings")
	third := finishes(t, m.Agent, brings)
	never := s.borrowsAlone(t, m.Agent, "")
	s.works(t)
	replay := func(u contract.Session) string {
		return strconv.FormatInt(u.ExpiresAt.Add(limits.ReplayLife).Unix(), 10)
	}
	for name, u := range map[string]contract.Session{"one that reuses": reuses, "one that brings": brings} {
		if man, meta := s.end(t, u.UploadSessionID, "MAN"), s.end(t, u.UploadSessionID, "META"); man != replay(u) || meta != "" {
			t.Errorf("%s: its entries end at %q, want %s; its gate at %q, want never", name, man, replay(u), meta)
		}
		s.eraseItem(t, "U#"+string(u.UploadSessionID), "MAN")
		if again := must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t); again.RevisionID != u.RevisionID || again.FileCount == 0 {
			t.Errorf("%s answers %+v without its entries", name, again)
		}
	}
	if s.end(t, never.UploadSessionID, "META")+s.end(t, never.UploadSessionID, "MAN") != "" {
		t.Error("a pending session ends in the tables")
	}
	s.clock.pass(sessionsEnd)
	s.works(t)
	if man, meta := s.end(t, never.UploadSessionID, "MAN"), s.end(t, never.UploadSessionID, "META"); man != replay(never) || meta != replay(never) {
		t.Errorf("a session that nobody finalized ends at %q and %q, want %s", man, meta, replay(never))
	}
	for _, p := range []contract.Published{first, second, third} {
		deletes(t, m.Agent, p.ArtifactID)
	}
	s.collects(t)
	s.holdsNothing(t, m.Agent)
}

func TestDiffsGoWhenTheirSessionIsFinalized(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	before := lines(20, "line")
	first := must(m.PublishFiles(ctx, "T", "", page("one"), wire.File{Path: "log.txt", Body: []byte(before)}))(t)
	s.works(t)
	for name, after := range map[string]string{"some bytes": lines(21, "line"), "none": ""} {
		r := revision(first, "T2")
		declared, diff := patched("log.txt", before, after)
		r.Files = []contract.DeclaredFile{declared}
		d := must(m.Draft(ctx, wire.NewKey(), r, diff))(t)
		s.sound(t)
		if left := strings.Join(diffsLeft(t, s), " "); left == "" {
			t.Errorf("%s: the diff went with the request", name)
		}
		s.works(t)
		if left := diffsLeft(t, s); len(left) > 0 {
			t.Errorf("%s: %v are left", name, left)
		}
		must(m.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
}

// diffsLeft are what Collected says of diffs.
func diffsLeft(t testing.TB, s *jobStand) (left []string) {
	t.Helper()
	for _, err := range invariant.Collected(ctx, s.inside()) {
		if strings.Contains(err.Error(), "the diff ") {
			left = append(left, err.Error())
		}
	}
	return left
}

// TestARepetitionOfFinalizeTellsWhatTheRevisionHolds repeats a request that read its session before the first one ended:
// what the session declares is less than what the revision holds.
func TestARepetitionOfFinalizeTellsWhatTheRevisionHolds(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"with the same key": true, "with another": false} {
		t.Run(name, func(t *testing.T) {
			s := newFaultStand(t)
			g := s.agent(t)
			first := must(g.PublishFiles(ctx, "T", "", page("one"), wire.File{Path: "kept.txt", Body: []byte("stays")}))(t)
			r := revision(first, "T2")
			r.Files = wire.Declare("", wire.File{Path: "empty.txt"}).Files
			u := must(g.Create(ctx, wire.NewKey(), r))(t)
			key := wire.NewKey()
			other := key
			if !again {
				other = wire.NewKey()
			}
			var done contract.Finalized
			late := s.overtaken(t, "PutItem", func() (wire.Answer, error) { return s.finalize(g, other, u.UploadSessionID) }, func() {
				done = must(g.Finalize(ctx, key, u.UploadSessionID))(t)
			})
			var repeated contract.Finalized
			succeed(t, json.Unmarshal(late.Body, &repeated))
			if done.FileCount != 3 || repeated != done {
				t.Errorf("the first answer is %+v, the repetition %d %s", done, late.Status, late.Body)
			}
		})
	}
}

func TestASessionThatVanishesIsNotFinalized(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "vanishes")
	whole := s.item(t, "U#"+string(u.UploadSessionID), "META")
	a := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.finalize(g, wire.NewKey(), u.UploadSessionID) }, func() {
		s.eraseItem(t, "U#"+string(u.UploadSessionID), "META")
	})
	refused(t, a, 404, fault.UploadSessionNotFound)
	s.rewrite(t, s.names.Core, whole, map[string]any{})
}
