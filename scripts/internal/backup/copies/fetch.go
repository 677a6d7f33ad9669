package copies

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/local/folder"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/async"
)

// wanted is an object that the tables name.
type wanted struct {
	Object
	needed bool // it must be there
}

// wantedBy returns each object that the tables name, once.
func wantedBy(ctx context.Context, client *dynamodb.Client, tables dynamo.Tables) ([]wanted, error) {
	at := map[string]int{}
	var all []wanted
	err := dynamo.StoredObjects(ctx, client, tables, func(o dynamo.StoredObject) error {
		key, err := blob.Key(o.Home, o.Object)
		if err != nil {
			return err
		}
		n, known := at[key]
		if !known {
			n = len(all)
			at[key] = n
			sum := hex.EncodeToString(o.Content.SHA256[:])
			all = append(all, wanted{Object: Object{Key: key, Size: o.Content.Size, SHA256: sum}})
		}
		all[n].needed = all[n].needed || o.Needed
		return nil
	})
	return all, err
}

// parallel is how many objects are fetched at once.
const parallel = 8

// progressEvery is the number of objects after which a line tells how far the work is.
const progressEvery = 1000

// fetch fetches the wanted objects. It links those that the copy before has, because an object never changes.
func (t *taking) fetch(ctx context.Context) error {
	had := map[string]Object{}
	if t.before != nil {
		for _, o := range t.before.Objects {
			had[o.Key] = o
		}
	}
	var missing []wanted
	for _, w := range t.wanted {
		if old, ok := had[w.Key]; ok && t.link(w, old) {
			t.Objects = append(t.Objects, old)
			continue
		}
		missing = append(missing, w)
		t.bytes += w.Size
	}
	if err := folder.HaveRoom(t.partial, t.bytes); err != nil {
		return err
	}
	t.say("copying  %d objects, %.1f MB, besides %d that the copy before has", len(missing), megabytes(t.bytes),
		len(t.Objects))
	return t.fetchAll(ctx, missing)
}

// link gives the copy an object of the copy before. It reports false if that has other bytes, or none of that length.
func (t *taking) link(w wanted, old Object) bool {
	from := t.before.ObjectFile(old.Key)
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() || info.Size() != w.Size || old.Size != w.Size || old.SHA256 != w.SHA256 {
		return false
	}
	to, err := t.place(w.Key)
	return err == nil && os.Link(from, to) == nil
}

// place makes the folder of an object in the unfinished copy and returns its file.
func (t *taking) place(key string) (string, error) {
	file := Copy{Dir: t.partial}.ObjectFile(key)
	return file, os.MkdirAll(filepath.Dir(file), 0o700)
}

// fetchAll fetches objects from the bucket. It goes on where one is missing or damaged, so that the error names all of
// them.
func (t *taking) fetchAll(ctx context.Context, all []wanted) error {
	client := t.Engines.S3Client()
	var mu sync.Mutex
	var faults []error
	done := 0
	group, ctx := async.WithContext(ctx)
	group.SetLimit(parallel)
	for _, w := range all {
		group.Go(func() error {
			err := t.fetchOne(ctx, client, &w)
			mu.Lock()
			defer mu.Unlock()
			if done++; done%progressEvery == 0 {
				t.say("copied   %d objects of %d", done, len(all))
			}
			switch gone := (*types.NoSuchKey)(nil); {
			case err == nil:
				t.Objects = append(t.Objects, w.Object)
			case errors.As(err, &gone) && !w.needed: // it was garbage
			case errors.As(err, &gone), errors.Is(err, errOtherBytes):
				faults = append(faults, fmt.Errorf("%s: %w", w.Key, err))
			default:
				return fmt.Errorf("%s cannot be fetched: %w", w.Key, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d objects of live artifacts are missing or damaged in the bucket, so there is no copy: %w",
			len(faults), errors.Join(faults[:min(len(faults), maxFaults)]...))
	}
	return nil
}

// maxFaults bounds the objects that an error names.
const maxFaults = 20

// errOtherBytes means that an object is not what the tables say.
var errOtherBytes = errors.New("its bytes have another size or SHA-256 than the tables say")

// fetchOne fetches an object, and compares its bytes with what the tables say.
func (t *taking) fetchOne(ctx context.Context, client *s3.Client, w *wanted) error {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{
		Bucket:       &t.Engines.Bucket,
		Key:          &w.Key,
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	to, err := t.place(w.Key)
	if err != nil {
		return err
	}
	f, err := writeFile(to, out.Body)
	if err != nil {
		return err
	}
	w.ContentType = aws.ToString(out.ContentType)
	if f.Size != w.Size || f.SHA256 != w.SHA256 {
		return errOtherBytes
	}
	return nil
}
