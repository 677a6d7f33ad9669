package cloud

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
)

func TestDeletedTablesComeBackAsTheyWereAtTheirDeletion(t *testing.T) {
	d := newDeployment(t)
	g := d.NewAgent(t)
	p := harness.PublishPage(t, g, "last")
	d.Clock.Advance(time.Hour)
	at := d.standIn.lose(d.Tables.Core)
	d.standIn.lose(d.Tables.Events)
	d.standIn.lose(d.Tables.Hot)
	d.Clock.Advance(10 * time.Minute)
	expect.Error(t, d.restore(at.Add(-time.Minute)).Run(t.Context()), "nothing but its last state is left",
		at.Format(time.RFC3339))
	expect.OK(t, d.restore(at).Run(t.Context()), d.restore(at).Check(t.Context()))
	s := d.restored(t).Set
	if items := d.standIn.items(s.Core); !slices.ContainsFunc(items, func(i map[string]types.AttributeValue) bool {
		return attribute(i["pk"]) == "A#"+string(p.ArtifactID) && attribute(i["status"]) == "active"
	}) {
		t.Errorf("the artifact %s is not among %v", p.ArtifactID, items)
	}
	if hot := d.standIn.settings[s.Hot]; s.Hot == d.Tables.Hot || !hot.Protected || hot.History || hot.Stream != "" {
		t.Errorf("the table of counters %s has %+v", s.Hot, hot)
	}
	expect.OK(t, d.restore(at).Switch(t.Context()))
	began := d.restored(t).Began
	expect.OK(t, d.restore(at).Open(t.Context(), true))
	if waited := d.Clock.Now().Sub(began); waited < assertionLife {
		t.Errorf("people were served %s after the loss was known, want %s at least", waited, assertionLife)
	}
}

// TestABucketInPlaceOfALostOneIsNotForTheRecoveryRole: the role has rights to the bucket of the deployment alone.
func TestABucketInPlaceOfALostOneIsNotForTheRecoveryRole(t *testing.T) {
	role, operator := s3.New(s3.Options{}), s3.New(s3.Options{})
	w := &work{Restore: Restore{S3: role, OwnS3: operator}, journal: &journal{}}
	w.Living.Bucket, w.Set.Bucket = "lost", "new"
	if w.objects() != operator {
		t.Error("the role is used for a new bucket")
	}
	if w.Set.Bucket = w.Living.Bucket; w.objects() != role {
		t.Error("the role is not used for the bucket of the deployment")
	}
}

// TestFilesThatAreLostComeFromACopy fills the bucket of a deployment from a copy whose file is damaged, and then from
// one that is whole.
func TestFilesThatAreLostComeFromACopy(t *testing.T) {
	l := newLoss(t)
	key := l.hidden[0]
	l.loseFile(t, key)
	unread := func(r *Restore) { r.Files = objects.Bucket{S3: r.S3, Name: "nowhere"} }
	expect.Error(t, l.restore(l.at, unread).Run(t.Context()), key+" cannot be copied")
	expect.Error(t, l.restore(l.at).Run(t.Context()), "say again where the files come from")
	expect.OK(t, l.abandon(t)()) // which needs no files
	l.Clock.Advance(time.Minute)
	damaged := l.copyOf(t, key, "<p>another</p>")
	from := func(r *Restore) { r.Files = damaged }
	expect.OK(t, l.restore(l.at, from).Run(t.Context()))
	expect.Has(t, "the run", l.out.String(), key+" is lost: its copy is missing or damaged")
	expect.Error(t, l.restore(l.at, from).Check(t.Context()), "not as they must be")
	expect.OK(t, l.abandon(t)())

	whole := l.copyOf(t, key, string(harness.Page("kept").Body))
	from = func(r *Restore) { r.Files = whole }
	l.Clock.Advance(time.Minute)
	expect.OK(t, l.restore(l.at, from).Run(t.Context()))
	fill := func() error { w := l.restored(t); w.Files = whole; return w.fill(t.Context()) }
	for n := 1; l.attempt(t, n, fill); n++ {
		expect.OK(t, l.restored(t).deleteAgain(t.Context()))
		l.loseFile(t, key)
	}
	out := expect.Value(l.S3.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &l.Options.Engines.Bucket, Key: &key}))(t)
	if !strings.HasPrefix(aws.ToString(out.ContentType), "text/html") {
		t.Errorf("%s has the type %s", key, aws.ToString(out.ContentType))
	}
	w := l.restored(t)
	w.Files = whole
	needed := expect.Value(w.needed(t.Context()))(t)
	expect.OK(t, w.put(t.Context(), key, needed[string(l.workspace)][key])) // a second PUT changes nothing
	expect.OK(t, l.restore(l.at, from).Check(t.Context()), l.abandon(t)())
	if slices.Contains(l.objects(t, l.workspace), key) {
		t.Error("an abandoned restore left a file that it had put")
	}
}

// loseFile deletes every version of a file.
func (l *loss) loseFile(t *testing.T, key string) {
	t.Helper()
	out := expect.Value(l.S3.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{
		Bucket: &l.Options.Engines.Bucket, Prefix: &key,
	}))(t)
	for _, v := range out.Versions {
		expect.Value(l.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{
			Bucket: &l.Options.Engines.Bucket, Key: &key, VersionId: v.VersionId,
		}))(t)
	}
}

// copyOf returns a copy that has one file.
func (l *loss) copyOf(t *testing.T, key, body string) objects.Source {
	t.Helper()
	c := copies.Copy{Dir: t.TempDir()}
	c.Objects = []copies.Object{{Key: key, ContentType: "text/html"}}
	expect.OK(t, os.MkdirAll(filepath.Dir(c.ObjectFile(key)), 0o700), os.WriteFile(c.ObjectFile(key), []byte(body), 0o600))
	return objects.Of(c)
}

func TestABucketOfCopiesHasFilesOrNone(t *testing.T) {
	l := newLoss(t)
	second := objects.Bucket{S3: l.S3, Name: l.Options.Engines.Bucket}
	key := l.objects(t, l.workspace)[0]
	f := expect.Value(second.Open(t.Context(), key))(t)
	if text := expect.Value(io.ReadAll(f))(t); len(text) == 0 || f.Type == "" {
		t.Errorf("%s is %q of type %q", key, text, f.Type)
	}
	if _, err := second.Open(t.Context(), l.hidden[0]); !errors.Is(err, objects.ErrGone) {
		t.Errorf("a deleted file: %v", err)
	}
}
