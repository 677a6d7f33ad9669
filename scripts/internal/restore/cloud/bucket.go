package cloud

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// filePrefix is what the keys of published files begin with.
const filePrefix = "o/"

// checkBucket refuses a bucket in which deleted files cannot be found again as of the instant. It does not matter how
// long a bucket keeps them if they come from elsewhere.
func (w *work) checkBucket(ctx context.Context) error {
	name := w.Set.Bucket
	versions, err := w.objects().GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &name})
	if err != nil {
		return fmt.Errorf("the bucket %s cannot be read: %w; if it is lost, name another and where its files come from", name,
			err)
	}
	if versions.Status != types.BucketVersioningStatusEnabled {
		return fmt.Errorf("the bucket %s keeps no versions: it is none of a deployment, or nothing deleted is left in it",
			name)
	}
	if name != w.Living.Bucket {
		return nil // scripts/deploy gives it its policy
	}
	policy, err := w.objects().GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &name})
	if err != nil {
		return fmt.Errorf("the policy of the bucket %s cannot be read: %w", name, err)
	}
	for _, statement := range []string{"DenyOverwrites", "DenyFunctionsVersions"} {
		if !strings.Contains(aws.ToString(policy.Policy), `"`+statement+`"`) {
			return fmt.Errorf("the policy of the bucket %s lacks %s, so that it was changed: deploy once more before you "+
				"trust it", name, statement)
		}
	}
	if w.Filled {
		return nil
	}
	return w.checkLife(ctx, name)
}

// checkLife refuses an instant that is older than what the bucket keeps of deleted files.
func (w *work) checkLife(ctx context.Context, name string) error {
	out, err := w.objects().GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &name})
	if err != nil {
		return fmt.Errorf("the life cycle of the bucket %s cannot be read: %w", name, err)
	}
	for _, rule := range out.Rules {
		e := rule.NoncurrentVersionExpiration
		if e == nil || rule.Status != types.ExpirationStatusEnabled || !strings.HasPrefix(filePrefix, prefixOf(rule)) {
			continue
		}
		days := int(aws.ToInt32(e.NoncurrentDays))
		if w.Clock.Now().Sub(w.Instant) > time.Duration(days)*24*time.Hour {
			return fmt.Errorf("the bucket %s keeps deleted files for %d days: what was deleted after %s is in part gone; "+
				"choose a younger instant, or name a copy of the files", name, days, w.Instant.Format(time.RFC3339))
		}
	}
	return nil
}

// prefixOf returns the prefix of the keys that a rule is about.
func prefixOf(rule types.LifecycleRule) string {
	switch f := rule.Filter; {
	case f == nil:
		return ""
	case f.And != nil:
		return aws.ToString(f.And.Prefix)
	default:
		return aws.ToString(f.Prefix)
	}
}
