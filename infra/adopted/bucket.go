package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// setting is one property of a bucket: where the template has it, how S3 is asked for it and how it is set.
type setting struct {
	property string // in the template
	within   string // the member of S3's answer that has it; empty: the answer itself
	command  string
	exact    bool
	ask      func(ctx context.Context, c *s3.Client, bucket *string) (any, error)
}

var settings = []setting{
	{
		property: "VersioningConfiguration",
		command:  "put-bucket-versioning --versioning-configuration",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: b})
		},
	}, {
		property: "LifecycleConfiguration",
		command:  "put-bucket-lifecycle-configuration --lifecycle-configuration",
		exact:    true,
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			out, err := c.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: b})
			if err != nil {
				return nil, err
			}
			return map[string]any{"Rules": out.Rules}, nil
		},
	}, {
		property: "BucketEncryption",
		within:   "ServerSideEncryptionConfiguration",
		command:  "put-bucket-encryption --server-side-encryption-configuration",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: b})
		},
	}, {
		property: "PublicAccessBlockConfiguration",
		within:   "PublicAccessBlockConfiguration",
		command:  "put-public-access-block --public-access-block-configuration",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: b})
		},
	}, {
		property: "OwnershipControls",
		within:   "OwnershipControls",
		command:  "put-bucket-ownership-controls --ownership-controls",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: b})
		},
	}, {
		property: "CorsConfiguration",
		command:  "put-bucket-cors --cors-configuration",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: b})
		},
	}, {
		property: "LoggingConfiguration",
		command:  "put-bucket-logging --bucket-logging-status",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketLogging(ctx, &s3.GetBucketLoggingInput{Bucket: b})
		},
	}, {
		property: "ReplicationConfiguration",
		within:   "ReplicationConfiguration",
		command:  "put-bucket-replication --replication-configuration",
		ask: func(ctx context.Context, c *s3.Client, b *string) (any, error) {
			return c.GetBucketReplication(ctx, &s3.GetBucketReplicationInput{Bucket: b})
		},
	},
}

// bucketAspects compares a bucket with the properties of the bucket that the deployment makes itself.
func bucketAspects(ctx context.Context, client *s3.Client, bucket string, own any) (all []aspect, err error) {
	for _, s := range settings {
		want := asS3(s.property, at(own, s.property))
		if want == nil {
			continue
		}
		got, err := s.ask(ctx, client, &bucket)
		if isAbsent(err) {
			got, err = nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s of bucket %s cannot be read: %w", s.property, bucket, err)
		}
		answer := unpacked(got)
		if s.within != "" {
			answer = at(answer, s.within)
		}
		all = append(all, aspect{
			what:  s.property,
			want:  want,
			got:   answer,
			exact: s.exact,
			fix:   fmt.Sprintf("aws s3api %s '%s' --bucket %s", s.command, packed(want), bucket),
		})
	}
	return all, nil
}

// isAbsent reports whether S3 says that a bucket does not have what was asked for, as NoSuchCORSConfiguration.
func isAbsent(err error) bool {
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() == "NoSuchBucket" {
		return false
	}
	code := refused.ErrorCode()
	return strings.HasPrefix(code, "NoSuch") || strings.HasSuffix(code, "NotFoundError")
}

// s3Names are the names that S3 has for members which CloudFormation names otherwise.
var s3Names = map[string]string{
	"Id":                                "ID",
	"CorsRules":                         "CORSRules",
	"MaxAge":                            "MaxAgeSeconds",
	"ServerSideEncryptionConfiguration": "Rules",
	"ServerSideEncryptionByDefault":     "ApplyServerSideEncryptionByDefault",
	"DestinationBucketName":             "TargetBucket",
	"LogFilePrefix":                     "TargetPrefix",
}

// asS3 returns a property of a template as S3 has it.
func asS3(property string, v any) any {
	out := renamed(v)
	switch {
	case out == nil:
		return nil
	case property == "LoggingConfiguration":
		return map[string]any{"LoggingEnabled": out}
	case property == "LifecycleConfiguration":
		for _, rule := range at(out, "Rules").([]any) {
			asRule(rule.(map[string]any))
		}
	}
	return out
}

// asRule gives a life cycle rule the form of S3, where prefix and expiration are structures.
func asRule(rule map[string]any) {
	prefix, _ := rule["Prefix"].(string)
	rule["Filter"] = map[string]any{"Prefix": prefix}
	expiration := map[string]any{}
	for name, member := range map[string]string{
		"ExpirationInDays": "Days", "ExpiredObjectDeleteMarker": "ExpiredObjectDeleteMarker",
	} {
		if v, given := rule[name]; given {
			expiration[member] = v
		}
		delete(rule, name)
	}
	if len(expiration) > 0 {
		rule["Expiration"] = expiration
	}
	delete(rule, "Prefix")
}

func renamed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if of, given := s3Names[name]; given {
				name = of
			}
			out[name] = renamed(member)
		}
		return out
	case []any:
		var out []any
		for _, member := range v {
			out = append(out, renamed(member))
		}
		return out
	}
	return v
}
