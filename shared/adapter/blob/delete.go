package blob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// batch is how many keys S3 takes in one DeleteObjects request.
const batch = 1000

// DeleteAll removes objects of several workspaces. A missing object is no failure. The error storage_unavailable means
// that some objects may be left: repeat the whole call.
func (s *Store) DeleteAll(ctx context.Context, objects map[id.Workspace][]tree.Object) error {
	var keys []string
	for home, some := range objects {
		for _, o := range some {
			k, err := key(home, o)
			if err != nil {
				return err
			}
			keys = append(keys, k)
		}
	}
	return s.remove(ctx, keys)
}

// DeleteSession removes everything that a session stored, whether entries name it or not. Its errors are those of
// DeleteAll.
func (s *Store) DeleteSession(ctx context.Context, home id.Workspace, session id.Session) error {
	if err := s.deleteFolder(ctx, home, session, false); err != nil {
		return err
	}
	return s.DeleteDiffs(ctx, home, session)
}

// DeleteDiffs removes the diffs of a session. Its errors are those of DeleteAll.
func (s *Store) DeleteDiffs(ctx context.Context, home id.Workspace, session id.Session) error {
	return s.deleteFolder(ctx, home, session, true)
}

func (s *Store) deleteFolder(ctx context.Context, home id.Workspace, session id.Session, diffs bool) error {
	folder, err := prefix(home, session, diffs)
	if err != nil {
		return err
	}
	return s.walk(ctx, folder, func(page *s3.ListObjectsV2Output) error { return s.removePage(ctx, page) })
}

// removePage deletes the objects on a page of a listing, as remove does.
func (s *Store) removePage(ctx context.Context, page *s3.ListObjectsV2Output) error {
	keys := make([]string, len(page.Contents))
	for i, object := range page.Contents {
		keys[i] = aws.ToString(object.Key)
	}
	return s.remove(ctx, keys)
}

// remove deletes as many keys as it can and reports the failures.
func (s *Store) remove(ctx context.Context, keys []string) error {
	var failed []error
	for chunk := range slices.Chunk(keys, batch) {
		if err := s.removeBatch(ctx, chunk); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// removeBatch deletes up to a batch of keys. S3 may refuse some keys of a request and delete the others, so only
// refused ones are sent again.
func (s *Store) removeBatch(ctx context.Context, keys []string) error {
	for try := 1; ; try++ {
		refused, err := s.removeOnce(ctx, keys)
		if err != nil || len(refused) == 0 {
			return err
		}
		if try == attempts {
			first := refused[0]
			return unavailable(fmt.Errorf("%d of %d objects are not deleted, %s: %s",
				len(refused), len(keys), aws.ToString(first.Key), aws.ToString(first.Code)))
		}
		keys = keys[:0:0]
		for _, e := range refused {
			keys = append(keys, aws.ToString(e.Key))
		}
		select {
		case <-time.After(pause(try)):
		case <-ctx.Done():
			return unavailable(ctx.Err())
		}
	}
}

func (s *Store) removeOnce(ctx context.Context, keys []string) ([]types.Error, error) {
	objects := make([]types.ObjectIdentifier, len(keys))
	for i := range keys {
		objects[i].Key = &keys[i]
	}
	out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &s.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return slices.DeleteFunc(out.Errors, func(e types.Error) bool { return aws.ToString(e.Code) == "NoSuchKey" }), nil
}

// homePrefixes are the prefixes of everything that is stored under the ID of a workspace: files, diffs, bundles and
// exports.
var homePrefixes = []string{filePrefix, diffPrefix, bundlePrefix, exportPrefix}

// DeleteHome implements sweep.HomeDeletions, up to 1000 objects of each kind at a time.
func (s *Store) DeleteHome(ctx context.Context, home id.Workspace) (found bool, err error) {
	if _, err := home.Bits(); err != nil {
		return false, fmt.Errorf("no objects have the workspace %q", home)
	}
	for _, kind := range homePrefixes {
		page, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
			Bucket: &s.bucket,
			Prefix: aws.String(kind + string(home) + "/"),
		})
		if err != nil {
			return found, unavailable(err)
		}
		if err := s.removePage(ctx, page); err != nil {
			return found, err
		}
		found = found || len(page.Contents) > 0
	}
	return found, nil
}
