package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/cloud"
	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/internal/restore/part"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// deploymentName is how scripts/deploy lets a deployment be called. Names of files are made of it.
var deploymentName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,39}$`)

// bucketScheme tells a bucket from a folder.
const bucketScheme = "s3://"

// cloud returns the restore of a deployment in AWS. Account and region are those of the AWS command line.
// The bucket of the deployment is worked on as the recovery role, everything else with the rights of the operator.
func (o options) cloud(ctx context.Context) (cloud.Restore, error) {
	if !deploymentName.MatchString(o.name) {
		return cloud.Restore{}, fmt.Errorf("%q is no name of a deployment", o.name)
	}
	root, err := engines.Root()
	if err != nil {
		return cloud.Restore{}, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return cloud.Restore{}, err
	}
	if cfg.Region == "" {
		return cloud.Restore{}, errors.New("no region is chosen: set AWS_REGION, then give the command again")
	}
	r := cloud.Restore{
		Name:     o.name,
		At:       o.at,
		Folder:   filepath.Join(root, ".vitrine", "restore", o.name),
		Settings: filepath.Join(root, ".vitrine", "deployed", o.name+".json"),
		Words:    o.words,
		Bucket:   o.bucket,
		DynamoDB: dynamodb.NewFromConfig(cfg),
		OwnS3:    s3.NewFromConfig(cfg),
		Commands: cloud.Programs{Root: root, Out: o.complaints},
		Clock:    cloud.Clock{Now: o.now, Wait: async.Sleep},
		Limits:   limitsIn(root),
		Out:      o.out,
	}
	role, err := r.RecoveryRole()
	if err != nil {
		return r, err
	}
	r.S3 = s3.NewFromConfig(cfg, func(s *s3.Options) { // no other role may take a delete marker away
		if role != "" {
			s.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role))
		}
	})
	if r.Except, err = o.exceptions(); err != nil || o.files == "" {
		return r, err
	}
	r.Files, err = o.source(ctx, cfg, r.Commands)
	return r, err
}

// limitsIn returns the limits of a deployment by its options: those of its policy, whose path counts from the repository
// as for scripts/deploy.
func limitsIn(root string) func(options map[string]string) (limits.Limits, error) {
	return func(options map[string]string) (limits.Limits, error) {
		numbers, sells := limits.Default(), options["stripe-key"] != ""
		p := policy.Default(sells)
		if file := options["policy"]; file != "" {
			if !filepath.IsAbs(file) {
				file = filepath.Join(root, file)
			}
			var err error
			if p, err = policy.Load(file, policy.Deployment{Billing: sells}); err != nil {
				return numbers, fmt.Errorf("the policy of the deployment cannot be read: %w", err)
			}
		}
		numbers.Tiers = p.Tiers
		return numbers, nil
	}
}

// putBackInAWS brings an artifact or a workspace of a deployment in AWS back, while it serves.
func (o options) putBackInAWS(ctx context.Context) error {
	r, err := o.cloud(ctx)
	if err != nil {
		return err
	}
	return r.Beside(ctx, o.part.Plan, func(then, living invariant.Deployment) error {
		return o.part.PutBack(ctx, part.Restore{
			From:    then,
			To:      living,
			Instant: o.at.Truncate(time.Second),
			Now:     o.now,
			Out:     o.out,
			Wait:    async.Sleep,
		})
	})
}

// source returns where the files of a lost bucket come from.
func (o options) source(ctx context.Context, cfg aws.Config, commands cloud.Commands) (objects.Source, error) {
	bucket, isBucket := strings.CutPrefix(o.files, bucketScheme)
	if !isBucket {
		c, err := copies.Open(o.files)
		return objects.Of(c), err
	}
	said, err := commands.AWS(ctx, "s3api", "get-bucket-location", "--bucket", bucket,
		"--query", "LocationConstraint", "--output", "text")
	if err != nil {
		return nil, err
	}
	if cfg.Region = strings.TrimSpace(said); cfg.Region == "None" {
		cfg.Region = "us-east-1" // the one region that S3 does not name
	}
	return objects.Bucket{S3: s3.NewFromConfig(cfg), Name: bucket}, nil
}
