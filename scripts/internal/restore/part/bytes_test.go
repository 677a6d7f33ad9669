package part

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/journey/harness"
)

func TestBytesComeFromVersionsWithoutACopy(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	e.Copy = nil
	e.remove(t, p)
	e.RunCollector(t)
	key := e.objectOf(t, p, "index.html")
	harness.Must(e.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &e.To.Bucket, Key: &key}))(t) // on top of the first
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	e.wantBack(t, p, "words")
}

func TestBytesComeFromTheCopyWhereTheBucketHasNone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	e.remove(t, p)
	e.RunCollector(t)
	for _, path := range []string{"index.html", "logo.bin"} {
		e.forgetVersions(t, e.objectOf(t, p, path))
	}
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	e.wantBack(t, p, "words")
}

func TestOtherBytesCountAsGone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(testing.TB, *env, string){
		"in the copy": func(t testing.TB, e *env, key string) {
			e.forgetVersions(t, key)
			harness.NoError(t, os.WriteFile(e.copy.file(key), []byte("other"), 0o600))
		},
		"in the bucket": func(t testing.TB, e *env, key string) { e.overwrite(t, key, "spoilt") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			e.take(t)
			e.remove(t, p)
			e.RunJobs(t)
			e.Wait = e.pass
			key := e.objectOf(t, p, "index.html")
			spoil(t, e, key)
			err := e.Artifact(ctx, p.ArtifactID)
			if !errors.Is(err, objects.ErrGone) || !strings.Contains(err.Error(), key) {
				t.Errorf("%v, want one that names %s", err, key)
			}
			e.WantClosed(t, e.owner.Agent, p)
		})
	}
}
