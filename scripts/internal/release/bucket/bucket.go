// Package bucket puts the files of a release where a deployment serves them from.
package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/release"
)

// kept is how many versions stay in a bucket. Hosts offer the one before while a deployment rolls out, and people may
// want to go back to it.
const kept = 3

// Bucket is that of a deployment.
type Bucket struct {
	Client *s3.Client
	Name   string
}

// Local returns the bucket of the engines of this machine.
func Local(e *engines.Engines) Bucket {
	client := e.S3Client()
	return Bucket{Client: client, Name: e.Bucket}
}

// Put stores the archives that the checksums in a folder name, and the checksums, as the files of a version. It reads
// each back, and removes all versions but the newest ones. The checksums come last, so that nobody meets those of
// archives that are not there yet.
func (b Bucket) Put(ctx context.Context, folder, version string) error {
	sums, err := os.ReadFile(filepath.Join(folder, release.Checksums))
	if err != nil {
		return err
	}
	for name, sum := range release.Sums(sums) {
		f := release.File{Version: version, Name: name}
		if !f.Valid() {
			return fmt.Errorf("%q in %s names no archive of version %s", name, release.Checksums, version)
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != sum {
			return fmt.Errorf("%s has the checksum %s, not %s", name, got, sum)
		}
		if err := b.put(ctx, f, text); err != nil {
			return err
		}
	}
	if err := b.put(ctx, release.File{Version: version, Name: release.Checksums}, sums); err != nil {
		return err
	}
	return b.prune(ctx, version)
}

func (b Bucket) put(ctx context.Context, f release.File, text []byte) error {
	key, sum := f.Path(), sha256.Sum256(text)
	_, err := b.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &b.Name,
		Key:            &key,
		Body:           bytes.NewReader(text),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
		ContentType:    aws.String(f.ContentType()),
	})
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", key, err)
	}
	stored, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key})
	if err != nil {
		return fmt.Errorf("%s cannot be read back: %w", key, err)
	}
	got, err := io.ReadAll(stored.Body)
	if err = errors.Join(err, stored.Body.Close()); err != nil {
		return fmt.Errorf("%s cannot be read back: %w", key, err)
	}
	if !bytes.Equal(got, text) {
		return fmt.Errorf("%s is stored with other bytes than were sent", key)
	}
	return nil
}

// prune removes the files of old versions, but never those of current.
func (b Bucket) prune(ctx context.Context, current string) error {
	of := map[string][]string{} // keys, by version
	pages := s3.NewListObjectsV2Paginator(b.Client,
		&s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: aws.String(release.Folder)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("the versions in the bucket cannot be listed: %w", err)
		}
		for _, object := range page.Contents {
			if f, ok := release.FileAt(aws.ToString(object.Key)); ok {
				of[f.Version] = append(of[f.Version], f.Path())
			}
		}
	}
	newest := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return release.Compare(b, a) })
	for _, version := range newest[min(kept, len(newest)):] {
		if version == current {
			continue
		}
		for _, key := range of[version] {
			if _, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &key}); err != nil {
				return fmt.Errorf("%s cannot be removed: %w", key, err)
			}
		}
	}
	return nil
}
