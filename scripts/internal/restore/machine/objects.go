package machine

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/shared/platform/async"
)

const (
	loadsAtOnce   = 8
	progressEvery = 1000 // objects
)

// loadObjects puts the objects of the copy into the new bucket. An object that is damaged in the copy is left out and
// named, so that one bad file does not keep all others away; the check names the artifact that misses it.
func (w *work) loadObjects(ctx context.Context) error {
	all := w.From.Objects
	w.say("objects  %d, %s", len(all), size(bytesOf(all)))
	var mu sync.Mutex // of done and of what is said
	done := 0
	group, ctx := async.WithContext(ctx)
	group.SetLimit(loadsAtOnce)
	for _, o := range all {
		group.Go(func() error {
			err := w.load(ctx, o)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, errDamaged) {
				w.say("damaged  %s in the copy: %v", o.Key, err)
				err = nil
			}
			if done++; done%progressEvery == 0 {
				w.say("         %d of %d objects", done, len(all))
			}
			return err
		})
	}
	return group.Wait()
}

// errDamaged means that an object of the copy is not what it was.
var errDamaged = errors.New("its bytes are missing or others than they were")

// load puts an object unless it is there. The engine compares the bytes with the digest that the copy was made with.
func (w *work) load(ctx context.Context, o copies.Object) error {
	file, err := os.Open(w.From.ObjectFile(o.Key))
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	defer file.Close()
	sum, err := hex.DecodeString(o.SHA256)
	if info, failed := file.Stat(); err != nil || failed != nil || info.Size() != o.Size {
		return errDamaged
	}
	in := &s3.PutObjectInput{
		Bucket:         &w.set.Bucket,
		Key:            &o.Key,
		Body:           file,
		ContentLength:  &o.Size,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum)),
		IfNoneMatch:    aws.String("*"),
	}
	if o.ContentType != "" {
		in.ContentType = &o.ContentType
	}
	_, err = w.set.S3.PutObject(ctx, in)
	refused, _ := errors.AsType[smithy.APIError](err)
	switch {
	case err == nil, refused != nil && refused.ErrorCode() == "PreconditionFailed": // an earlier run has put it
		return nil
	case refused != nil && (refused.ErrorCode() == "BadDigest" || refused.ErrorCode() == "InvalidRequest"):
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return fmt.Errorf("the object %s cannot be stored: %w", o.Key, err)
}

func bytesOf(all []copies.Object) (n int64) {
	for _, o := range all {
		n += o.Size
	}
	return n
}
