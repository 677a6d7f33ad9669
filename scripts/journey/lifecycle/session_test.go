package lifecycle

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// deleteItem deletes an item of core, as its end does in time.
func deleteItem(t testing.TB, s *harness.FaultEnv, pk, sk string) {
	t.Helper()
	key := harness.Item{}
	harness.SetAttributes(key, map[string]any{"pk": pk, "sk": sk})
	harness.Must(s.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Tables.Core, Key: key}))(t)
}

// endOf is when an item of a session is deleted, in seconds; empty: never.
func endOf(t testing.TB, s *harness.JobEnv, u id.Session, sk string) string {
	t.Helper()
	if ttl := s.GetItem(t, "U#"+string(u), sk)["ttl"]; ttl != nil {
		return strconv.Itoa(parsedNumber(t, ttl))
	}
	return ""
}

func TestSessionsLeaveTheTablesWhenNobodyAsksForThemAgain(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	reuses := borrowOnlyLogo(t, s, m.Agent, "")
	second := finish(t, m.Agent, reuses)
	brings := s.Upload(t, m.Agent, "", "brings")
	third := finish(t, m.Agent, brings)
	never := borrowOnlyLogo(t, s, m.Agent, "")
	s.RunJobs(t)
	replay := func(u contract.Session) string {
		return strconv.FormatInt(u.ExpiresAt.Add(limits.ReplayLife).Unix(), 10)
	}
	for name, u := range map[string]contract.Session{"one that reuses": reuses, "one that brings": brings} {
		key := "U#" + string(u.UploadSessionID)
		together := s.GetItem(t, key, "META")["files"] != nil
		if together != (name == "one that brings") {
			t.Errorf("%s: its entries are in its gate: %t", name, together)
		}
		man, meta := endOf(t, s, u.UploadSessionID, "MAN"), endOf(t, s, u.UploadSessionID, "META")
		if meta != "" || !together && man != replay(u) {
			t.Errorf("%s: its entries end at %q, want %s; its gate at %q, want never", name, man, replay(u), meta)
		}
		if together {
			s.Update(t, key, "META", map[string]any{"files": nil})
		} else {
			deleteItem(t, s.FaultEnv, key, "MAN")
		}
		again := harness.Must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
		if again.RevisionID != u.RevisionID || again.FileCount == 0 {
			t.Errorf("%s answers %+v without its entries", name, again)
		}
	}
	if endOf(t, s, never.UploadSessionID, "META")+endOf(t, s, never.UploadSessionID, "MAN") != "" {
		t.Error("a pending session ends in the tables")
	}
	s.Clock.Advance(sessionsEnd)
	s.RunJobs(t)
	man, meta := endOf(t, s, never.UploadSessionID, "MAN"), endOf(t, s, never.UploadSessionID, "META")
	if man != replay(never) || meta != replay(never) {
		t.Errorf("a session that nobody finalized ends at %q and %q, want %s", man, meta, replay(never))
	}
	for _, p := range []contract.Published{first, second, third} {
		deleteArtifact(t, m.Agent, p.ArtifactID)
	}
	s.RunCollector(t)
	wantNoObjects(t, s, m.Agent)
}

func TestDiffsGoWhenTheirSessionIsFinalized(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	before := harness.Lines(20, "line")
	first := harness.Must(m.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "log.txt",
		Body: []byte(before),
	}))(t)
	s.RunJobs(t)
	for name, after := range map[string]string{"some bytes": harness.Lines(21, "line"), "none": ""} {
		r := harness.Revise(first, "T2")
		declared, diff := harness.Patch("log.txt", before, after)
		r.Files = []contract.DeclaredFile{declared}
		d := harness.Must(m.Draft(ctx, wire.NewKey(), r, diff))(t)
		s.CheckInvariants(t)
		if left := strings.Join(diffsLeft(t, s), " "); left == "" {
			t.Errorf("%s: the diff went with the request", name)
		}
		s.RunJobs(t)
		if left := diffsLeft(t, s); len(left) > 0 {
			t.Errorf("%s: %v are left", name, left)
		}
		harness.Must(m.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
}

// diffsLeft are what Collected says of diffs.
func diffsLeft(t testing.TB, s *harness.JobEnv) (left []string) {
	t.Helper()
	for _, err := range invariant.Collected(ctx, s.Deployment()) {
		if strings.Contains(err.Error(), "the diff ") {
			left = append(left, err.Error())
		}
	}
	return left
}
