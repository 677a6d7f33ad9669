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

// How often and how fast a request is retried. Its context bounds the whole.
const (
	attempts   = 3
	firstPause = 50 * time.Millisecond // upper bound of the first pause; it doubles each time
)

// conditionalConflict is the code of S3 for a conditional write while another one of the same
// object is under way.
const conditionalConflict = "ConditionalRequestConflict"

// pause returns how long to wait after a failed attempt, the first of which is 1.
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

// New makes a store on a bucket that exists. Edge is the origin of the host that clients upload to, which passes paths
// under /o/ and /d/ to the bucket's own host; the client then has to address buckets by host. If edge is empty, clients
// are sent to S3 itself.
func New(client *s3.Client, bucket, edge string) *Store {
	client = s3.New(client.Options(), func(o *s3.Options) {
		o.RetryMaxAttempts = attempts
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = attempts
			r.Retryables = append(r.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{conditionalConflict: {}}})
			r.Backoff = retry.BackoffDelayerFunc(
				func(attempt int, _ error) (time.Duration, error) { return pause(attempt), nil })
		})
		// A checksum that the SDK computes would be signed into upload URLs, and ranges have none
		// to compare.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		settle(o, bucket)
	})
	// A header that moves into the query is signed, but S3 does not check it there, so that any
	// bytes would be accepted.
	inHeaders := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableHeaderHoisting, o.DisableURIPathEscaping = true, true })
	return &Store{
		client:  client,
		presign: s3.NewPresignClient(client, func(o *s3.PresignOptions) { o.Presigner = inHeaders }),
		signing: &signer{provider: client.Options().Credentials},
		bucket:  bucket,
		edge:    strings.TrimSuffix(edge, "/"),
	}
}

// What the keys of objects begin with. The id of a workspace follows.
const (
	filePrefix   = "o/"
	diffPrefix   = "d/"
	bundlePrefix = "b/"
	exportPrefix = "x/"
)

// lastEntry is the highest number that fits a key.
const lastEntry = 999

// key returns the name of an object: o/{home}/{session}/{entry}, and d/… for a diff. No other
// code spells keys.
func key(home id.Workspace, o tree.Object) (string, error) {
	if o.Entry < 0 || o.Entry > lastEntry {
		return "", fmt.Errorf("entry %d of session %s has no object", o.Entry, o.Session)
	}
	folder, err := prefix(home, o.Session, o.Diff)
	return folder + strconv.Itoa(lastEntry + 1 + o.Entry)[1:], err // three digits
}

// prefix begins the keys of a session's files, or those of its diffs, and no others.
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

// entry returns the number at the end of a key, -1 if the name is not that of an entry.
func entry(folder, key string) int {
	name := strings.TrimPrefix(key, folder)
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n > lastEntry || fmt.Sprintf("%03d", n) != name {
		return -1
	}
	return n
}
