package bucket

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/release"
)

var linux = release.Platform{OS: "linux", Arch: "amd64"}

// newBucket returns an empty bucket on the engine.
func newBucket(t *testing.T) (Bucket, *chaos.Injector) {
	t.Helper()
	e, faults := engine.Shared(t), chaos.For(t)
	client := s3.NewFromConfig(e.AWS(), func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &e.S3, true
		o.RetryMaxAttempts = 1
		o.APIOptions = append(o.APIOptions, faults.Add)
	})
	name := "release-" + strings.ToLower(rand.Text())
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return Bucket{Client: client, Name: name}, faults
}

// folder returns a folder with the archive of a version, and with its checksums.
func folder(t *testing.T, version, text string) string {
	t.Helper()
	dir := t.TempDir()
	sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), linux.Archive(version))
	expect.OK(t, os.WriteFile(filepath.Join(dir, linux.Archive(version)), []byte(text), 0o600))
	expect.OK(t, os.WriteFile(filepath.Join(dir, release.Checksums), []byte(sum), 0o600))
	return dir
}

// versions returns the versions whose files are all there.
func (b Bucket) versions(t *testing.T) (found []string) {
	t.Helper()
	page := expect.Value(b.Client.ListObjectsV2(t.Context(),
		&s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: aws.String(release.Folder)}))(t)
	for _, object := range page.Contents {
		if f, ok := release.FileAt(*object.Key); ok && f.Name == release.Checksums {
			found = append(found, f.Version)
		}
	}
	return found
}

func TestTheLastVersionsStay(t *testing.T) {
	b, _ := newBucket(t)
	for _, version := range []string{"9.0.9", "9.0.10", "9.1.0", "10.0.0"} {
		expect.OK(t, b.Put(t.Context(), folder(t, version, "program "+version), version))
	}
	if got, want := b.versions(t), []string{"10.0.0", "9.0.10", "9.1.0"}; !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	key := release.File{Version: "10.0.0", Name: linux.Archive("10.0.0")}.Path()
	stored := expect.Value(b.Client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &b.Name, Key: &key}))(t)
	text, err := io.ReadAll(stored.Body)
	if err != nil || string(text) != "program 10.0.0" || *stored.ContentType != "application/gzip" {
		t.Errorf("%s holds %q of type %s, %v", key, text, *stored.ContentType, err)
	}
	// Who goes back to an old release gets it, although newer ones are there.
	expect.OK(t, b.Put(t.Context(), folder(t, "8.0.0", "old"), "8.0.0"))
	if got := b.versions(t); !slices.Contains(got, "8.0.0") {
		t.Errorf("there are %q, want 8.0.0 among them", got)
	}
}

func TestWhatIsNotStoredAsItWasSentStopsAndShowsNoChecksums(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*chaos.Injector)
		says  string
	}{
		"no answer to a write": {func(i *chaos.Injector) { i.On("PutObject").Before(chaos.Unreachable) }, "cannot be written"},
		"no answer to a read":  {func(i *chaos.Injector) { i.On("GetObject").Before(chaos.Unreachable) }, "cannot be read back"},
		"a part of the bytes":  {func(i *chaos.Injector) { i.On("GetObject").After(chaos.Cut(3)) }, "other bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b, faults := newBucket(t)
			c.fault(faults)
			version := "11.0.0"
			err := b.Put(t.Context(), folder(t, version, "program"), version)
			expect.Error(t, err, c.says, "cli/11.0.0/vitrine_11.0.0_linux_amd64.tar.gz")
			if got := b.versions(t); slices.Contains(got, version) {
				t.Errorf("there are %q", got)
			}
		})
	}
}

func TestAFolderThatIsNoReleaseIsRefused(t *testing.T) {
	b, _ := newBucket(t)
	expect.Error(t, b.Put(t.Context(), t.TempDir(), "12.0.0"), release.Checksums)
	expect.Error(t, b.Put(t.Context(), folder(t, "12.0.1", "program"), "12.0.0"), "names no archive of version 12.0.0")
	changed := folder(t, "12.0.0", "program")
	expect.OK(t, os.WriteFile(filepath.Join(changed, linux.Archive("12.0.0")), []byte("another"), 0o600))
	expect.Error(t, b.Put(t.Context(), changed, "12.0.0"), "has the checksum")
	without := folder(t, "12.0.0", "program")
	expect.OK(t, os.Remove(filepath.Join(without, linux.Archive("12.0.0"))))
	expect.Error(t, b.Put(t.Context(), without, "12.0.0"), "no such file")
}
