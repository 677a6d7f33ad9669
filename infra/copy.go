package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// copyFiles makes S3 copy uploaded files to the second bucket, with their delete markers: what is deleted here becomes
// an old version there too, and ends by the rules of that bucket. own is the bucket of the stack, while the rights are
// for the one in use.
func (d *data) copyFiles(o options, own awss3.Bucket) {
	if !o.Backup.copies() {
		return
	}
	role := awsiam.NewRole(d.stack, jsii.String("Copy"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("s3.amazonaws.com"), nil),
		Description: jsii.String("Copies the files of Vitrine to a second bucket, where it may delete nothing for good"),
	})
	for _, s := range d.copyRights(o.Backup) {
		role.AddToPolicy(s)
	}
	suppress(role, rule{"AwsSolutions-IAM5", "o/* are the uploaded files, whose keys no policy can know"})
	output(d.stack, "CopyRole", role.RoleArn())
	output(d.stack, "CopyBucket", jsii.String(o.Backup.CopyBucket))
	bucket := own.Node().DefaultChild().(awss3.CfnBucket)
	bucket.SetReplicationConfiguration(&awss3.CfnBucket_ReplicationConfigurationProperty{
		Role:  role.RoleArn(),
		Rules: []any{o.Backup.replication()},
	})
}

// copyRights lack s3:DeleteObjectVersion, so that a copied delete leaves the old version.
func (d *data) copyRights(b backup) []awsiam.PolicyStatement {
	write := []string{"s3:ReplicateObject", "s3:ReplicateDelete"}
	if b.CopyAccount != "" {
		write = append(write, "s3:ObjectOwnerOverrideToBucketOwner")
	}
	return []awsiam.PolicyStatement{
		allow(d.bucket.BucketArn(), "s3:GetReplicationConfiguration", "s3:ListBucket"),
		allow(d.files(), "s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"),
		allow(jsii.String(b.CopyBucket+"/o/*"), write...),
		allowIf(d.key.KeyArn(), d.forObjects(), "kms:Decrypt"),
		b.useKey("kms:Encrypt", "kms:GenerateDataKey"),
	}
}

// useKey allows S3 to use the key of the second bucket on behalf of the caller.
func (b backup) useKey(actions ...string) awsiam.PolicyStatement {
	return allowIf(jsii.String(b.CopyKey), map[string]any{"StringEquals": map[string]any{
		"kms:ViaService": fmt.Sprintf("s3.%s.amazonaws.com", keyRegion(b.CopyKey)),
	}}, actions...)
}

// replication returns the one rule of the copy.
func (b backup) replication() *awss3.CfnBucket_ReplicationRuleProperty {
	to := &awss3.CfnBucket_ReplicationDestinationProperty{
		Bucket: jsii.String(b.CopyBucket),
		EncryptionConfiguration: &awss3.CfnBucket_EncryptionConfigurationProperty{
			ReplicaKmsKeyId: jsii.String(b.CopyKey),
		},
	}
	if b.CopyAccount != "" {
		to.Account = jsii.String(b.CopyAccount)
		to.AccessControlTranslation = &awss3.CfnBucket_AccessControlTranslationProperty{Owner: jsii.String("Destination")}
	}
	return &awss3.CfnBucket_ReplicationRuleProperty{
		Id:                      jsii.String("files"),
		Status:                  jsii.String("Enabled"),
		Priority:                number(1),
		Filter:                  &awss3.CfnBucket_ReplicationRuleFilterProperty{Prefix: jsii.String("o/")},
		DeleteMarkerReplication: &awss3.CfnBucket_DeleteMarkerReplicationProperty{Status: jsii.String("Enabled")},
		SourceSelectionCriteria: &awss3.CfnBucket_SourceSelectionCriteriaProperty{
			SseKmsEncryptedObjects: &awss3.CfnBucket_SseKmsEncryptedObjectsProperty{Status: jsii.String("Enabled")},
		},
		Destination: to,
	}
}
