package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// recoveryHours is the longest session of the recovery role, because DynamoDB restores a large table for hours.
const recoveryHours = 12

// Rights on tables by what they do. A restore reads and writes its target with the rights of its caller.
var (
	readTable = []string{
		"dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups", "dynamodb:DescribeTimeToLive",
		"dynamodb:ListTagsOfResource", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan",
	}
	restoreTable = []string{"dynamodb:RestoreTableToPointInTime", "dynamodb:RestoreTableFromBackup"}
	exportTable  = []string{"dynamodb:ExportTableToPointInTime"}
	makeTable    = []string{
		"dynamodb:CreateTable", "dynamodb:UpdateTable", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTimeToLive",
		"dynamodb:TagResource", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
		"dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteTable",
	}
)

// makeRecovery makes the role that an operator assumes to bring back what was deleted. Only principals of the account
// with the right sts:AssumeRole on it can do so, and no function has that right.
func (d *data) makeRecovery() {
	d.recovery = awsiam.NewRole(d.stack, jsii.String("Recovery"), &awsiam.RoleProps{
		AssumedBy:          awsiam.NewAccountPrincipal(d.stack.Account()),
		Description:        jsii.String("Brings back what was deleted from Vitrine: for operators, never for functions"),
		MaxSessionDuration: awscdk.Duration_Hours(number(recoveryHours)),
	})
	output(d.stack, "RecoveryRole", d.recovery.RoleArn())
}

// grantRecovery gives the recovery role its rights: to read every version of an object, to take delete markers away, to
// put files back, and to restore tables beside the living ones, which it may read and not change.
func (d *data) grantRecovery(o options) {
	for _, s := range []awsiam.PolicyStatement{
		allow(d.bucket.BucketArn(), "s3:ListBucket", "s3:ListBucketVersions", "s3:GetBucketVersioning",
			"s3:GetBucketPolicy", "s3:GetLifecycleConfiguration"), // a restore refuses a bucket that was changed
		allow(d.bucket.ArnForObjects(jsii.String("*")), "s3:GetObject", "s3:GetObjectVersion"),
		// DeleteObject puts back what an abandoned restore brought back
		allow(d.files(), "s3:DeleteObjectVersion", "s3:DeleteObject", "s3:PutObject"),
		allowIf(d.key.KeyArn(), d.forObjects(), "kms:Decrypt", "kms:GenerateDataKey"),
		allow(jsii.String("*"), "dynamodb:ListBackups"), // names no resource
	} {
		d.recovery.AddToPolicy(s)
	}
	for _, t := range d.restorable {
		table := t.TableArn()
		d.recovery.AddToPolicy(allow(table, slices.Concat(readTable, restoreTable[:1], exportTable)...))
		d.recovery.AddToPolicy(allow(jsii.String(*table+"/index/*"), "dynamodb:Query", "dynamodb:Scan"))
		d.recovery.AddToPolicy(allow(jsii.String(*table+"/export/*"), "dynamodb:DescribeExport"))
		d.recovery.AddToPolicy(allow(jsii.String(*table+"/backup/*"), restoreTable[1]))
	}
	for _, actions := range [][]string{readTable, restoreTable, makeTable} {
		d.recovery.AddToPolicy(allow(d.restored(o), actions...))
	}
	d.recovery.AddToPolicy(d.keepLiving())
	for _, s := range o.readCopies() {
		d.recovery.AddToPolicy(s)
	}
	suppress(d.recovery, rule{"AwsSolutions-IAM5", "objects, indexes, exports, backups and restored tables have names " +
		"that no policy can know, and ListBackups names no resource"})
}

// keepLiving denies the recovery role to delete the tables that the functions use: adopted ones have names of restored
// tables.
func (d *data) keepLiving() awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Effect:    awsiam.Effect_DENY,
		Actions:   jsii.Strings("dynamodb:DeleteTable"),
		Resources: &[]*string{d.core.TableArn(), d.events.TableArn(), d.hot.TableArn()},
	})
}

// readCopies allows reading the second bucket, where there is one, and writing exports of tables there.
func (o options) readCopies() []awsiam.PolicyStatement {
	if !o.Backup.copies() {
		return nil
	}
	bucket := o.Backup.CopyBucket
	return append(o.putExports(),
		allow(jsii.String(bucket), "s3:ListBucket"),
		allow(jsii.String(bucket+"/o/*"), "s3:GetObject"),
		allow(jsii.String(bucket+"/"+o.exportPrefix()+"/*"), "s3:GetObject"),
	)
}

// restored returns the ARN of the tables that a restore makes, with their indexes.
func (d *data) restored(o options) *string {
	return jsii.String(fmt.Sprintf("arn:%s:dynamodb:%s:%s:table/%s-restore-*",
		*d.stack.Partition(), *d.stack.Region(), *d.stack.Account(), o.Name))
}
