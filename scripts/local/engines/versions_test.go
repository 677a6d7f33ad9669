package engines

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/testkit/expect"
)

func TestADeletedObjectComesBackWithItsChecksumAndType(t *testing.T) {
	e := start(t, Options{})
	client, key := objects(e), aws.String("o/undeleted")
	put := expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket:            &e.Bucket,
		Key:               key,
		Body:              strings.NewReader("bytes"),
		ContentType:       aws.String("text/x-kept"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	}))(t)
	deleted := expect.Value(client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &e.Bucket, Key: key}))(t)
	_, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &e.Bucket, Key: key})
	expect.Error(t, err, "StatusCode: 404")
	_, err = client.CopyObject(t.Context(), &s3.CopyObjectInput{
		Bucket:     &e.Bucket,
		Key:        aws.String("o/copy"),
		CopySource: aws.String(e.Bucket + "/" + *key),
	})
	expect.Error(t, err, "StatusCode: 404")
	old := expect.Value(client.GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: &e.Bucket, Key: key, VersionId: put.VersionId}))(t)
	if body, err := io.ReadAll(old.Body); err != nil || string(body) != "bytes" {
		t.Errorf("the version is %q, %v", body, err)
	}
	expect.Value(client.DeleteObject(t.Context(),
		&s3.DeleteObjectInput{Bucket: &e.Bucket, Key: key, VersionId: deleted.VersionId}))(t)
	head := expect.Value(client.HeadObject(t.Context(), &s3.HeadObjectInput{
		Bucket:       &e.Bucket,
		Key:          key,
		ChecksumMode: types.ChecksumModeEnabled,
	}))(t)
	if *head.ContentType != "text/x-kept" || *head.ChecksumSHA256 != *put.ChecksumSHA256 || *head.ContentLength != 5 {
		t.Errorf("it came back with type %q, checksum %q and %d bytes", *head.ContentType, *head.ChecksumSHA256,
			*head.ContentLength)
	}
}

func TestVersionsAreListedPageByPage(t *testing.T) {
	e := start(t, Options{})
	want := map[string]bool{}
	for _, key := range []string{"o/a", "o/b", "o/c"} {
		for range 2 {
			putObject(t, e, key, "bytes")
			out := expect.Value(objects(e).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &e.Bucket, Key: &key}))(t)
			want[*out.VersionId] = true
		}
	}
	versions, markers := 0, map[string]bool{}
	pages := s3.NewListObjectVersionsPaginator(objects(e), &s3.ListObjectVersionsInput{
		Bucket:  &e.Bucket,
		Prefix:  aws.String("o/"),
		MaxKeys: aws.Int32(5),
	})
	for pages.HasMorePages() {
		page := expect.Value(pages.NextPage(t.Context()))(t)
		if n := len(page.Versions) + len(page.DeleteMarkers); n > 5 {
			t.Errorf("a page of %d", n)
		}
		versions += len(page.Versions)
		for _, marker := range page.DeleteMarkers {
			markers[*marker.VersionId] = true
		}
	}
	if versions != 6 || len(markers) != len(want) {
		t.Errorf("%d versions and %d markers, want 6 and %d", versions, len(markers), len(want))
	}
}

func TestAKillAmongDeletesLosesNoVersion(t *testing.T) {
	for _, store := range []string{"attributes", "sidecar"} {
		t.Run(store, func(t *testing.T) {
			dir := t.TempDir()
			if store == "sidecar" {
				expect.OK(t, os.MkdirAll(filepath.Join(dir, "s3", "metadata"), 0o700))
			}
			e := start(t, Options{Dir: dir})
			keys := make([]string, 60)
			for i := range keys {
				keys[i] = "o/" + strconv.Itoa(i)
				putObject(t, e, keys[i], keys[i])
			}
			killAmongDeletes(t, e, keys)
			expect.OK(t, e.S3Process.Start(t.Context()))
			for _, key := range keys {
				undelete(t, e, key)
				wantObject(t, e, key, key)
			}
		})
	}
}

// killAmongDeletes deletes and undeletes all keys at once and kills the engine when a third of that is done.
func killAmongDeletes(t *testing.T, e *Engines, keys []string) {
	t.Helper()
	var group sync.WaitGroup
	done := make(chan struct{}, 2*len(keys))
	for _, key := range keys {
		group.Go(func() {
			defer func() { done <- struct{}{} }()
			in := &s3.DeleteObjectInput{Bucket: &e.Bucket, Key: &key}
			client := s3.New(objects(e).Options(), func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
			out, err := client.DeleteObject(t.Context(), in)
			done <- struct{}{}
			if err == nil { // otherwise the engine is gone
				in.VersionId = out.VersionId
				_, _ = client.DeleteObject(t.Context(), in)
			}
		})
	}
	for range len(keys) / 3 {
		<-done
	}
	e.S3Process.Kill()
	group.Wait()
}

// undelete takes delete markers away until an object is the newest.
func undelete(t *testing.T, e *Engines, key string) {
	t.Helper()
	for range 4 {
		out := expect.Value(objects(e).ListObjectVersions(t.Context(),
			&s3.ListObjectVersionsInput{Bucket: &e.Bucket, Prefix: &key}))(t)
		var marker *string
		for _, m := range out.DeleteMarkers {
			if *m.Key == key && *m.IsLatest {
				marker = m.VersionId
			}
		}
		if marker == nil {
			return
		}
		expect.Value(objects(e).DeleteObject(t.Context(),
			&s3.DeleteObjectInput{Bucket: &e.Bucket, Key: &key, VersionId: marker}))(t)
	}
	t.Errorf("%s has markers without end", key)
}
