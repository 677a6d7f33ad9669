package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// functionTag is on the role of every function and on no other role, so that a policy can tell functions from people.
const functionTag = "vitrine-function"

// guards returns what the bucket denies, even to callers whose own policies allow it.
func (d *data) guards(o options) []awsiam.PolicyStatement {
	all := []awsiam.PolicyStatement{
		d.refuseEncryption("DenyOtherEncryption", "s3:x-amz-server-side-encryption", jsii.String("aws:kms")),
		d.refuseEncryption("DenyOtherKeys", "s3:x-amz-server-side-encryption-aws-kms-key-id", d.key.KeyArn()),
		d.refuseOverwrites(),
		d.refuseFunctions(),
	}
	if o.Keep {
		all = append(all, d.refuseDestruction())
	}
	return all
}

// refuseFunctions denies the functions what could undo the protection of old versions, even if a role of theirs should
// ever be granted it. Roles of people lack the tag, so that a deployment can still change the bucket.
func (d *data) refuseFunctions() awsiam.PolicyStatement {
	functions := map[string]any{"Null": map[string]any{"aws:PrincipalTag/" + functionTag: "false"}}
	return d.refuse("DenyFunctionsVersions", functions, "s3:DeleteObjectVersion", "s3:ListBucketVersions",
		"s3:GetObjectVersion", "s3:PutBucketVersioning", "s3:PutLifecycleConfiguration", "s3:PutBucketPolicy",
		"s3:DeleteBucketPolicy")
}

// refuseDestruction denies everybody but the recovery role to delete a version. S3's own life cycle rules are not
// bound by it.
func (d *data) refuseDestruction() awsiam.PolicyStatement {
	others := map[string]any{"StringNotEquals": map[string]any{"aws:PrincipalArn": d.recovery.RoleArn()}}
	return d.refuse("DenyDestruction", others, "s3:DeleteObjectVersion")
}

// refuse denies actions on the bucket and all of its objects.
func (d *data) refuse(id string, conditions map[string]any, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(id),
		Effect:     awsiam.Effect_DENY,
		Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
		Actions:    jsii.Strings(actions...),
		Resources:  &[]*string{d.bucket.BucketArn(), d.bucket.ArnForObjects(jsii.String("*"))},
		Conditions: &conditions,
	})
}

// refuseEncryption denies puts whose header asks for another encryption than the bucket's default. The service never
// sends that header.
func (d *data) refuseEncryption(id, header string, ours *string) awsiam.PolicyStatement {
	return refusePuts(id, map[string]any{
		"Null": map[string]any{header: "false"}, "StringNotEquals": map[string]any{header: ours},
	}, d.bucket.ArnForObjects(jsii.String("*")))
}

// refuseOverwrites denies every caller puts to files and diffs without If-None-Match, because those objects are written
// once. It also denies copies and multipart uploads there, which cannot send that header; the service makes none.
// Archives of revisions and exports are not covered: they are multipart uploads, and a retry replaces them.
func (d *data) refuseOverwrites() awsiam.PolicyStatement {
	unconditional := map[string]any{"Null": map[string]any{"s3:if-none-match": "true"}}
	return refusePuts("DenyOverwrites", unconditional, d.files(), d.diffs())
}

func refusePuts(id string, conditions map[string]any, objects ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(id),
		Effect:     awsiam.Effect_DENY,
		Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
		Actions:    jsii.Strings("s3:PutObject"),
		Resources:  &objects,
		Conditions: &conditions,
	})
}
