package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
	"vitrine/shared/platform/release"
)

// Statements are written out, because the grants of the CDK allow more than the stores need.

func allow(resource *string, actions ...string) awsiam.PolicyStatement {
	return allowIf(resource, nil, actions...)
}

func allowIf(resource *string, conditions map[string]any, actions ...string) awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: &[]*string{resource}}
	if conditions != nil {
		props.Conditions = &conditions
	}
	return awsiam.NewPolicyStatement(props)
}

// leading limits a right to items whose partition keys match one of the patterns.
func leading(keys ...string) map[string]any {
	return map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": keys}}
}

// index returns the ARN of an index of a table.
func index(t awsdynamodb.ITableV2, name string) *string {
	return jsii.String(*t.TableArn() + "/index/" + name)
}

// files returns the ARN of the objects that clients upload; package blob defines their keys.
func (d *data) files() *string { return d.bucket.ArnForObjects(jsii.String("o/*")) }

// diffs returns the ARN of the uploads that files are rebuilt from.
func (d *data) diffs() *string { return d.bucket.ArnForObjects(jsii.String("d/*")) }

// bundles returns the ARN of the archives of revisions.
func (d *data) bundles() *string { return d.bucket.ArnForObjects(jsii.String("b/*")) }

// exports returns the ARN of the archives of exports.
func (d *data) exports() *string { return d.bucket.ArnForObjects(jsii.String("x/*")) }

// releases returns the ARN of the archives of the CLI.
func (d *data) releases() *string { return d.bucket.ArnForObjects(jsii.String(release.Folder + "*")) }

// listed allows listing the objects below a prefix. A request that names no prefix is denied.
func (d *data) listed(prefix string) awsiam.PolicyStatement {
	return allowIf(d.bucket.BucketArn(), map[string]any{"StringLike": map[string]any{"s3:prefix": prefix}},
		"s3:ListBucket")
}

// readGates allows what a read needs first: to decide whether the reader may read, and to count the read.
func (d *data) readGates() []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{
		allowIf(d.core.TableArn(), leading("W#*", "A#*", "AL#*"), "dynamodb:GetItem", "dynamodb:BatchGetItem"),
		allowIf(d.hot.TableArn(), leading("r:*"), "dynamodb:UpdateItem"),
	}
}

// write allows putting and updating those items of table core whose keys match, or all of them with narrow-writes=no.
// How IAM compares the keys of a transaction over several items shows only in a real account, which is why the option
// exists.
func (d *data) write(keys ...string) awsiam.PolicyStatement {
	return d.change(keys, "dynamodb:PutItem", "dynamodb:UpdateItem")
}

// update allows what write does, except for putting new items.
func (d *data) update(keys ...string) awsiam.PolicyStatement {
	return d.change(keys, "dynamodb:UpdateItem")
}

func (d *data) change(keys []string, actions ...string) awsiam.PolicyStatement {
	var conditions map[string]any
	if d.narrowWrites {
		conditions = leading(keys...)
	}
	return allowIf(d.core.TableArn(), conditions, actions...)
}

// memberItems are the keys of what members and agents change: workspaces with their members, artifacts, links, API
// keys, claims and the moves that follow them, removals of workspaces, identities, addresses, registrations,
// delegations, and grants with the codes that they come from.
var memberItems = []string{"W#*", "A#*", "AL#*", "K#*", "CT#*", "JOB#MIGRATE#*", "JOB#REMOVE#*", "IDP#*", "EML#*", "DEL#*", "REG#*", "CRED#*"}

// serveMembers allows what a host does for members and agents: reading and changing state, but not files. The host
// reads and appends events only. It writes memberItems, and the items of the further keys.
func (d *data) serveMembers(further ...string) []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{
		allow(d.core.TableArn(),
			"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"),
		d.write(slices.Concat(memberItems, further)...),
		allow(index(d.core, "gsi1"), "dynamodb:Query"),
		allow(index(d.core, "gsi2"), "dynamodb:Query"), // links of an artifact
		allow(d.events.TableArn(), "dynamodb:PutItem", "dynamodb:Query"),
		allow(d.hot.TableArn(), "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
	}
}

// serveUploads allows opening and finalizing upload sessions of whole files. It does not include reading table core and
// writing its items; the hosts differ in those.
func (d *data) serveUploads() []awsiam.PolicyStatement {
	return append([]awsiam.PolicyStatement{
		allow(d.events.TableArn(), "dynamodb:PutItem"),
		allow(d.hot.TableArn(), "dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
		allowIf(d.core.TableArn(), leading("O#*"), "dynamodb:BatchWriteItem"), // references to reused bytes
		allowIf(d.core.TableArn(), leading("B#*"), "dynamodb:DeleteItem"),     // stale index entries, whose object is gone
		allow(d.files(), "s3:PutObject"),                                      // a presigned PUT has the rights of its signer
		d.listed("o/*"),
		allowIf(d.key.KeyArn(), d.forObjects(), "kms:GenerateDataKey"),
	}, d.readFiles()...)
}

// applyDiffs allows finalizing sessions whose files were uploaded as diffs.
func (d *data) applyDiffs() []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{allow(d.diffs(), "s3:GetObject"), d.listed("d/*")}
}

// readFiles allows reading uploaded files. For a missing object S3 answers 403, because the role may not list the
// bucket. Package blob expects that.
func (d *data) readFiles() []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{
		allow(d.files(), "s3:GetObject"),
		allowIf(d.key.KeyArn(), d.forObjects(), "kms:Decrypt"),
	}
}

// readRing allows fetching one key ring.
func (d *data) readRing(name string) []awsiam.PolicyStatement {
	return d.readSecret(d.rings[name].SecretArn())
}

// readSecret allows fetching one secret that is encrypted with the deployment's key.
func (d *data) readSecret(arn *string) []awsiam.PolicyStatement {
	conditions := d.through("secretsmanager")
	conditions["StringEquals"].(map[string]any)["kms:EncryptionContext:SecretARN"] = arn
	return []awsiam.PolicyStatement{
		allow(arn, "secretsmanager:GetSecretValue"),
		allowIf(d.key.KeyArn(), conditions, "kms:Decrypt"),
	}
}

// readClientSecret allows a host to read the client's secret, if the host has the setting that names it.
func (d *data) readClientSecret(o options, people []string) []awsiam.PolicyStatement {
	if !slices.Contains(people, env.OIDCClientSecret) {
		return nil
	}
	arn := jsii.String(o.Identity.settings()[env.OIDCClientSecret])
	switch {
	case *arn == "":
		return nil
	case o.Identity.By == cognitoIdentity:
		return d.readSecret(arn)
	}
	return []awsiam.PolicyStatement{allow(arn, "secretsmanager:GetSecretValue")}
}

// readProviderList allows a host that verifies tokens of agents' providers to read the list of those providers.
func (h host) readProviderList(o options) []awsiam.PolicyStatement {
	if !h.providers || o.AgentProviders == "" {
		return nil
	}
	return []awsiam.PolicyStatement{allow(jsii.String(o.AgentProviders), "secretsmanager:GetSecretValue")}
}

// readBillingSecrets allows a host that talks to Stripe to read the secrets that it needs there.
func (h host) readBillingSecrets(o options) []awsiam.PolicyStatement {
	if !h.sells || !o.Billing.on() {
		return nil
	}
	read := []awsiam.PolicyStatement{allow(jsii.String(o.Billing.Key), "secretsmanager:GetSecretValue")}
	if h.hears {
		read = append(read, allow(jsii.String(o.Billing.WebhookSecret), "secretsmanager:GetSecretValue"))
	}
	return read
}

// forObjects limits the use of the key to objects of the bucket. In the encryption context, S3 names the bucket when a
// bucket key is enabled, as it is here, and otherwise the object.
func (d *data) forObjects() map[string]any {
	conditions, bucket := d.through("s3"), *d.bucket.BucketArn()
	conditions["StringLike"] = map[string]any{"kms:EncryptionContext:aws:s3:arn": []string{bucket, bucket + "/*"}}
	return conditions
}

// through limits the use of the key to calls that an AWS service makes on behalf of the caller.
func (d *data) through(service string) map[string]any {
	return map[string]any{"StringEquals": map[string]any{
		"kms:ViaService": fmt.Sprintf("%s.%s.amazonaws.com", service, *d.stack.Region()),
	}}
}
