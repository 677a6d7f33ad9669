package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/release"
)

// How long S3 keeps objects that the service itself does not delete.
const (
	unfinishedDays = 1  // parts of uploads that were never completed
	diffDays       = 2  // objects under d/, the input of patches
	exportDays     = 14 // archives of exports, which the jobs delete a week after they are ready
	archiveDays    = 1  // replaced and deleted versions of what can be made anew: archives, diffs and the CLI
	accessLogDays  = 90 // access log: who read and wrote objects
	looseLogDays   = 1  // the access log of a deployment whose data goes with its stack
)

// minTLS is the oldest version of TLS that a bucket takes.
const minTLS = 1.2

// preflightAge is how many seconds a browser may rely on what S3 allows.
const preflightAge = 600

// objects makes the private bucket. It keeps versions, so that a mistake or a stolen role cannot destroy files at once.
// What was deleted survives as an old version for the days of the options.
func (d *data) objects(o options) awss3.Bucket {
	logDays := float64(accessLogDays)
	if !o.Keep {
		logDays = looseLogDays
	}
	log := awss3.NewBucket(d.stack, jsii.String("AccessLog"), d.private(o, &awss3.BucketProps{
		Encryption: awss3.BucketEncryption_S3_MANAGED, // S3 cannot write its logs to a bucket with a customer's key
		LifecycleRules: &[]*awss3.LifecycleRule{
			{Id: jsii.String("expire"), Expiration: days(logDays), AbortIncompleteMultipartUploadAfter: days(unfinishedDays)},
		},
	}))
	output(d.stack, "AccessLog", log.BucketName())
	own := awss3.NewBucket(d.stack, jsii.String("Objects"), d.private(o, &awss3.BucketProps{
		Encryption:             awss3.BucketEncryption_KMS,
		EncryptionKey:          d.key,
		BucketKeyEnabled:       jsii.Bool(true),
		ServerAccessLogsBucket: log,
		ServerAccessLogsPrefix: jsii.String("objects/"),
		Cors:                   browserPuts(o.Addresses.App),
		Versioned:              jsii.Bool(true),
		LifecycleRules:         o.lifecycle(),
	}))
	d.bucket = own
	for _, s := range d.guards(o) {
		own.AddToResourcePolicy(s)
	}
	return own
}

// lifecycle returns the rules by which S3 deletes objects and their versions. An expiration leaves a version and a
// delete marker behind: the version ends by the days of its prefix, and the marker by its own rule.
func (o options) lifecycle() *[]*awss3.LifecycleRule {
	return &[]*awss3.LifecycleRule{
		{Id: jsii.String("unfinished"), AbortIncompleteMultipartUploadAfter: days(unfinishedDays)},
		{Id: jsii.String("markers"), ExpiredObjectDeleteMarker: jsii.Bool(true)},
		versions("files", "o/", o.Backup.NoncurrentDays, nil),
		versions("bundles", "b/", archiveDays, nil),
		versions("diffs", "d/", archiveDays, days(diffDays)),
		versions("exports", "x/", archiveDays, days(exportDays)),
		versions("releases", release.Folder, archiveDays, nil),
	}
}

// versions returns the rule of a prefix: how many days its old versions live, and how long its objects do.
func versions(id, prefix string, kept float64, expiration awscdk.Duration) *awss3.LifecycleRule {
	return &awss3.LifecycleRule{
		Id:                          jsii.String(id),
		Prefix:                      jsii.String(prefix),
		Expiration:                  expiration,
		NoncurrentVersionExpiration: days(kept),
	}
}

// browserPuts allows pages of one origin to send files by presigned PUTs, and nothing else. S3 adds the headers of the
// rule to its refusals, too, and the distribution in front of it passes them on.
func browserPuts(origin string) *[]*awss3.CorsRule {
	return &[]*awss3.CorsRule{{
		AllowedOrigins: jsii.Strings(origin),
		AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
		AllowedHeaders: jsii.Strings("if-none-match", "x-amz-checksum-sha256"),
		MaxAge:         number(preflightAge),
	}}
}

// private sets the properties that both buckets share.
func (d *data) private(o options, p *awss3.BucketProps) *awss3.BucketProps {
	p.BlockPublicAccess = awss3.BlockPublicAccess_BLOCK_ALL()
	p.ObjectOwnership = awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED
	p.EnforceSSL, p.MinimumTLSVersion = jsii.Bool(true), number(minTLS)
	p.RemovalPolicy = o.removal()
	return p
}
