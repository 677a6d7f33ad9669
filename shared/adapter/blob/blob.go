// Package blob keeps the bytes of files in S3 and implements the ports of the core on it.
package blob

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// How often and how fast a request is retried. The deadline of its context bounds all attempts together.
const (
	attempts   = 3
	firstPause = 50 * time.Millisecond // upper bound of the first pause; it doubles each time
)

// conditionalConflict is S3's error code for a conditional write that meets another one of the same object.
const conditionalConflict = "ConditionalRequestConflict"

// pause returns a random wait after a failed attempt; the first attempt is 1.
func pause(attempt int) time.Duration {
	longest := firstPause << max(attempt-1, 0)
	return longest/2 + rand.N(longest/2)
}

// Store holds the objects of all workspaces in one bucket. An object is written once and never
// changes.
type Store struct {
	client  *s3.Client
	presign *s3.PresignClient
	signing *signer
	bucket  string
	edge    string
}

// New makes a store on a bucket that exists. edge is the origin that clients upload to: a host that passes paths under
// /o/ and /d/ on to the bucket's own host. It requires a client that addresses buckets by host. If edge is empty,
// clients upload to S3 itself.
func New(client *s3.Client, bucket, edge string) *Store {
	client = s3.New(client.Options(), func(o *s3.Options) {
		o.RetryMaxAttempts = attempts
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = attempts
			r.Retryables = append(r.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{conditionalConflict: {}}})
			r.Backoff = retry.BackoffDelayerFunc(
				func(attempt int, _ error) (time.Duration, error) { return pause(attempt), nil })
		})
		// Only required checksums are computed and validated. A checksum of the SDK would be signed into upload URLs,
		// and a range of an object has none to compare with.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		settle(o, bucket)
	})
	// Headers stay headers. The SDK would move some into the query, where they are signed but S3 does not check them,
	// so any bytes would be accepted.
	inHeaders := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableHeaderHoisting, o.DisableURIPathEscaping = true, true })
	return &Store{
		client:  client,
		presign: s3.NewPresignClient(client, func(o *s3.PresignOptions) { o.Presigner = inHeaders }),
		signing: &signer{provider: client.Options().Credentials},
		bucket:  bucket,
		edge:    strings.TrimSuffix(edge, "/"),
	}
}

// The prefixes of keys. The ID of a workspace follows.
const (
	filePrefix   = "o/"
	diffPrefix   = "d/"
	bundlePrefix = "b/"
	exportPrefix = "x/"
)

// lastEntry is the highest entry number that a key has.
const lastEntry = 9999

// key returns the name of an object: o/{home}/{session}/{entry} for a file, and d/… for a diff. No other code spells
// these keys.
func key(home id.Workspace, o tree.Object) (string, error) {
	if o.Entry < 0 || o.Entry > lastEntry {
		return "", fmt.Errorf("entry %d of session %s has no object", o.Entry, o.Session)
	}
	folder, err := prefix(home, o.Session, o.Diff)
	return folder + number(o.Entry), err
}

// Key returns the name of the object with the bytes of a file, for programs that move objects between buckets.
func Key(home id.Workspace, o tree.Object) (string, error) { return key(home, o) }

// number returns the end of a key: at least three digits, as keys had when they had no more.
func number(entry int) string { return fmt.Sprintf("%03d", entry) }

// prefix returns what the keys of a session's files, or of its diffs, begin with, and no other keys do.
func prefix(home id.Workspace, s id.Session, diffs bool) (string, error) {
	if _, err := home.Bits(); err != nil || !s.Valid() {
		return "", fmt.Errorf("no objects have the workspace %q and the session %q", home, s)
	}
	kind := filePrefix
	if diffs {
		kind = diffPrefix
	}
	return kind + string(home) + "/" + string(s) + "/", nil
}

// entry returns the number at the end of a key, or -1 if the key does not name an entry.
func entry(folder, key string) int {
	name := strings.TrimPrefix(key, folder)
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n > lastEntry || number(n) != name {
		return -1
	}
	return n
}
