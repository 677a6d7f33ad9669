package repair

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// env is a deployment that a test damages as a restore may.
type env struct {
	*harness.JobEnv
	said bytes.Buffer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return &env{JobEnv: harness.NewJobEnv(t, func(o *stack.Options) { o.Limits.Bundles = time.Second })}
}

// set returns the deployment as one that was restored to an instant which is this long ago.
func (e *env) set(ago time.Duration) Set {
	now := e.Clock.Now()
	return Set{
		Deployment: e.Deployment(),
		Instant:    now.Add(-ago),
		Now:        now,
		Out:        &e.said,
	}
}

// repair repairs twice, wants nothing left, and wants to be told what was done.
func (e *env) repair(t *testing.T, says string) {
	t.Helper()
	if len(invariant.Check(t.Context(), e.Deployment())) == 0 {
		t.Error("nothing is damaged")
	}
	for range 2 {
		left, err := e.set(0).Repair(t.Context())
		expect.OK(t, err)
		for _, breach := range left {
			t.Error(breach)
		}
	}
	expect.Has(t, "what was said", e.said.String(), says)
	if n := strings.Count(e.said.String(), says); n != 1 {
		t.Errorf("it is said %d times: %s", n, e.said.String())
	}
}

func TestAFinalizedSessionWithoutItsRevisionCanBeFinalizedAgain(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	file := harness.Page("words")
	old := harness.PublishPage(t, g, "first").ArtifactID
	for name, artifact := range map[string]id.Artifact{"new": "", "old": old, "new and torn off, too": ""} {
		declared := wire.Declare("words", file)
		declared.ArtifactID = artifact
		session := harness.Must(g.Create(t.Context(), wire.NewKey(), declared))(t)
		harness.PutAll(t, g, session, []wire.File{file})
		made := harness.Must(g.Finalize(t.Context(), wire.NewKey(), session.UploadSessionID))(t)
		e.Update(t, "A#"+string(made.ArtifactID), "R#"+string(made.RevisionID), nil)
		if strings.Contains(name, "torn") {
			e.Update(t, "A#"+string(made.ArtifactID), "META", nil)
		}
		e.said.Reset()
		e.repair(t, "session "+string(session.UploadSessionID)+" was finalized without its revision")
		a := harness.Must(harness.Finalize(g, wire.NewKey(), session.UploadSessionID))(t)
		if a.Status != http.StatusOK && a.Status != http.StatusCreated {
			t.Errorf("%s: finalizing again answers %d %s", name, a.Status, a.Body)
		}
	}
}

func TestARevisionWithoutItsEventGetsOneNearTheInstantOnly(t *testing.T) {
	e := newEnv(t)
	p := harness.PublishPage(t, e.NewAgent(t), "words")
	for _, i := range e.Scan(t, e.Tables.Events) {
		if harness.Text(i["on_id"]) == string(p.RevisionID) {
			e.RewriteItem(t, e.Tables.Events, i, nil)
		}
	}
	left, err := e.set(time.Minute).Repair(t.Context())
	expect.OK(t, err)
	if !strings.Contains(errors.Join(left...).Error(), "artifact.published "+string(p.RevisionID)) {
		t.Errorf("left is %v", left)
	}
	e.repair(t, "artifact.published of "+string(p.RevisionID)+" had no event: recorded")
}

func TestWhatLeadsNowhereIsRemoved(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	p := harness.PublishPage(t, g, "words")
	e.PutObject(t, g, id.NewSession(), "000", "of nobody")
	home := string(harness.TokenOf(t, g).Workspace)
	e.Put(t, harness.Item{}, map[string]any{
		"pk":  "B#" + home + "#" + wire.Digest([]byte("x")) + "#1",
		"sk":  "H",
		"obj": string(id.NewSession()) + "#0",
	})
	e.repair(t, "1 objects belonged to nothing: deleted")
	expect.Has(t, "what was said", e.said.String(), "1 entries of the content index")
	e.WantContent(t, p.RevisionContentURL, harness.Page("words").Body)
}

func TestABorrowedFileGetsItsReferenceBack(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	big := wire.File{Path: "index.txt", Body: harness.RandomBytes(1, 20_000)}
	harness.Must(g.PublishFiles(t.Context(), "lender", "", big))(t)
	e.RunJobs(t)
	harness.Must(g.PublishFiles(t.Context(), "borrower", "", big))(t)
	for _, i := range e.Scan(t, e.Tables.Core) {
		if strings.HasPrefix(harness.Text(i["pk"]), "O#") {
			e.Put(t, i, nil)
			e.Update(t, harness.Text(i["pk"]), harness.Text(i["sk"]), nil)
		}
	}
	e.repair(t, "1 references of borrowed files were missing: added")
}

func TestABundleWithoutItsArchiveIsMadeAgain(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	p := harness.PublishPage(t, g, "words")
	e.RunJobs(t)
	key := fmt.Sprintf("b/%s/%s/%s.zip", harness.TokenOf(t, g).Workspace, p.ArtifactID, p.RevisionID)
	remove := &s3.DeleteObjectInput{Bucket: &e.Options.Engines.Bucket, Key: &key}
	harness.Must(e.S3.DeleteObject(t.Context(), remove))(t)
	for range 2 {
		expect.OK(t, e.set(0).Archives(t.Context()))
		e.CheckInvariants(t)
	}
	e.RunJobs(t)
	harness.Must(e.S3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: remove.Bucket, Key: &key}))(t)
	expect.OK(t, e.set(0).Archives(t.Context())) // it leaves an archive that is there
	harness.Must(e.S3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: remove.Bucket, Key: &key}))(t)
	e.CheckInvariants(t)
}

func TestAnExportWithoutItsArchivesIsForgotten(t *testing.T) {
	e := newEnv(t)
	w := "W#" + string(harness.TokenOf(t, e.NewAgent(t)).Workspace)
	e.Put(t, harness.Item{}, map[string]any{
		"pk":     w,
		"sk":     "EXPORT",
		"id":     string(id.NewExport()),
		"status": "ready",
		"vols":   make([]byte, 40),
		"g2p":    "DUE#UNEXPORT#0",
		"g2s":    fmt.Sprint(e.Clock.Now().UnixMilli()),
	})
	for range 2 {
		expect.OK(t, e.set(0).Archives(t.Context()))
	}
	if e.GetItem(t, w, "EXPORT") != nil {
		t.Error("the export is still there")
	}
	expect.Has(t, "what was said", e.said.String(), "forgotten")
}
