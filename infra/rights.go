package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
)

// The rights of each host. grant.go has the statements that several hosts share.

func (d *data) apiRights() []awsiam.PolicyStatement {
	return slices.Concat(d.serveMembers("UC#*", "OAR#*", "OCL#*", "LOCK#*", "BC#*", "BE#*", "FB#*"), []awsiam.PolicyStatement{
		allow(index(d.events, "gsi1"), "dynamodb:Query"), // operators read the events of all workspaces
		// lockdowns that they lift, events of the payment provider that were not processed, removals that are cancelled, and the
		// places of threads before a change
		allowIf(d.core.TableArn(), leading("LOCK#*", "BE#*", "JOB#REMOVE#*", "FB#*"), "dynamodb:DeleteItem"),
		allow(d.hot.TableArn(), "dynamodb:BatchGetItem"), // records of repeated requests
	}, d.readFiles()) // files are read back as text
}

func (d *data) uploadRights() []awsiam.PolicyStatement {
	return append(slices.Concat(d.serveUploads(), d.applyDiffs()),
		allow(d.core.TableArn(), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem"),
		d.write("U#*", "A#*", "K#*"),     // sessions, drafts, and when a key was used
		allow(d.diffs(), "s3:PutObject"), // clients put diffs with URLs that this role signs
	)
}

func (d *data) contentRights() []awsiam.PolicyStatement {
	return slices.Concat(d.readGates(), d.readFiles(), []awsiam.PolicyStatement{
		allow(d.bundles(), "s3:GetObject"),
		allow(d.exports(), "s3:GetObject"),
	})
}

// renderRights are those of content without the archives.
func (d *data) renderRights() []awsiam.PolicyStatement {
	return slices.Concat(d.readGates(), d.readFiles())
}

func (d *data) appRights() []awsiam.PolicyStatement {
	// sign-ins, sessions, consents, lockdowns that are lifted, removals that are cancelled, and the places of threads before a
	// change
	ended := leading("LTX#*", "SES#*", "OAR#*", "LOCK#*", "JOB#REMOVE#*", "FB#*")
	written := []string{"SES#*", "LTX#*", "RPT#*", "LOCK#*", "CFG#*", "BC#*", "U#*", "FB#*"}
	return slices.Concat(d.serveMembers(written...), []awsiam.PolicyStatement{
		allow(index(d.events, "gsi1"), "dynamodb:Query"), // operators read the events of all workspaces
		allowIf(d.core.TableArn(), ended, "dynamodb:DeleteItem"),
		allow(d.releases(), "s3:GetObject"),
	}, d.serveUploads())
}

func (d *data) mcpRights() []awsiam.PolicyStatement {
	return append(slices.Concat(d.serveUploads(), d.applyDiffs()),
		allow(d.core.TableArn(),
			"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"),
		// sessions, artifacts, links, how many artifacts are pinned, and threads
		d.write("U#*", "A#*", "AL#*", "W#*", "FB#*"),
		allowIf(d.core.TableArn(), leading("FB#*"), "dynamodb:DeleteItem"), // the places of threads before a change
		allow(index(d.core, "gsi1"), "dynamodb:Query"),
		allow(index(d.core, "gsi2"), "dynamodb:Query"), // links of an artifact
	)
}

// jobsRights read no file. No other role deletes any.
func (d *data) jobsRights() []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{
		allow(d.core.TableArn(), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem",
			"dynamodb:UpdateItem",
			"dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem"),
		allow(index(d.core, "gsi1"), "dynamodb:Query"),
		allow(index(d.core, "gsi2"), "dynamodb:Query"),
		allow(d.events.TableArn(), "dynamodb:PutItem", "dynamodb:Query"), // the record of a workspace names what is removed
		allow(d.files(), "s3:DeleteObject"),
		allow(d.diffs(), "s3:DeleteObject"),
		allow(d.bundles(), "s3:DeleteObject"),
		allow(d.exports(), "s3:DeleteObject"),
		d.listed("o/*"), d.listed("d/*"), // of sessions that were never finalized, and of workspaces that are removed
		d.listed("b/*"), d.listed("x/*"), // of the latter
	}
}

// bundleRights read all that an export describes, and may not delete.
func (d *data) bundleRights() []awsiam.PolicyStatement {
	return append([]awsiam.PolicyStatement{
		allowIf(d.core.TableArn(), leading("W#*", "A#*"),
			"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"),
		allowIf(d.core.TableArn(), leading("FB#*"), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"),
		// links and API keys that lists name
		allowIf(d.core.TableArn(), leading("AL#*", "K#*"), "dynamodb:BatchGetItem"),
		allow(index(d.core, "gsi1"), "dynamodb:Query"),
		allow(index(d.core, "gsi2"), "dynamodb:Query"),
		allow(d.events.TableArn(), "dynamodb:Query"),
		d.update("A#*", "W#*"), // revisions, and how far exports are
		allow(d.bundles(), "s3:PutObject", "s3:AbortMultipartUpload"),
		allow(d.exports(), "s3:PutObject", "s3:AbortMultipartUpload"),
		allowIf(d.key.KeyArn(), d.forObjects(), "kms:GenerateDataKey"),
	}, d.readFiles()...)
}
