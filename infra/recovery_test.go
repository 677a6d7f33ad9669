package main

import (
	"slices"
	"strings"
	"testing"
)

// restoredTable is a table that a restore made, of the deployment that a test looks at.
const restoredTable = "arn:AWS::Partition:dynamodb:AWS::Region:AWS::AccountId:table/NAME-restore-2-core"

// destructive are the actions that destroy what is stored or change what protects it, and who may do each: functions by
// name, and the roles recovery, copy and export. No other role may.
var destructive = []struct{ action, resource, who string }{
	{"s3:DeleteObject", "Objects.Arn/o/1", "jobs recovery"},
	{"s3:DeleteObject", "Objects.Arn/b/1", "jobs"},
	{"s3:DeleteObject", "Objects.Arn/d/1", "jobs"},
	{"s3:DeleteObject", "Objects.Arn/x/1", "jobs"},
	{"s3:DeleteObject", "Objects.Arn/cli/1", ""},
	{"s3:DeleteObjectVersion", "Objects.Arn/o/1", "recovery"},
	{"s3:DeleteObjectVersion", "Objects.Arn/b/1", ""},
	{"s3:DeleteObjectVersion", "Objects.Arn/d/1", ""},
	{"s3:DeleteObjectVersion", "Objects.Arn/x/1", ""},
	{"s3:DeleteObjectVersion", "Objects.Arn/cli/1", ""},
	{"s3:ListBucketVersions", "Objects.Arn", "recovery"},
	{"s3:GetObjectVersion", "Objects.Arn/o/1", "recovery"},
	{"s3:PutBucketVersioning", "Objects.Arn", ""},
	{"s3:PutLifecycleConfiguration", "Objects.Arn", ""},
	{"s3:PutBucketPolicy", "Objects.Arn", ""},
	{"s3:DeleteBucketPolicy", "Objects.Arn", ""},
	{"dynamodb:DeleteTable", "Core.Arn", ""},
	{"dynamodb:DeleteTable", "Events.Arn", ""},
	{"dynamodb:DeleteTable", "Hot.Arn", ""},
	{"dynamodb:DeleteTable", restoredTable, "recovery"},
	{"dynamodb:UpdateTable", "Core.Arn", ""},
	{"dynamodb:UpdateTable", restoredTable, "recovery"},
	{"dynamodb:UpdateContinuousBackups", "Core.Arn", ""},
	{"dynamodb:UpdateContinuousBackups", restoredTable, "recovery"},
	{"dynamodb:RestoreTableToPointInTime", "Core.Arn", "recovery"},
	{"dynamodb:RestoreTableToPointInTime", "Hot.Arn", ""},
	{"dynamodb:RestoreTableToPointInTime", restoredTable, "recovery"},
	{"dynamodb:RestoreTableFromBackup", "Core.Arn/backup/1", "recovery"},
	{"dynamodb:RestoreTableFromBackup", restoredTable, "recovery"},
	{"dynamodb:DeleteBackup", "Core.Arn/backup/1", ""},
	{"dynamodb:BatchWriteItem", "Events.Arn", ""},
	{"dynamodb:BatchWriteItem", restoredTable, "recovery"},
	{"dynamodb:Scan", "Core.Arn", "recovery"},
	{"secretsmanager:DeleteSecret", "ContentRing", ""},
	{"secretsmanager:PutSecretValue", "ContentRing", ""},
	{"sts:AssumeRole", "Recovery.Arn", ""},
	{"s3:DeleteObjectVersion", copyBucket + "/o/1", ""},
	{"s3:DeleteObject", copyBucket + "/o/1", ""},
	{"s3:PutObject", copyBucket + "/o/1", ""},
	{"s3:ReplicateDelete", copyBucket + "/o/1", "copy"},
	{"s3:ReplicateObject", copyBucket + "/exports/NAME/1", ""},
}

// caller is a role, with the keys that its requests have.
type caller struct {
	rights rolePolicy
	about  map[string]string
}

// callers returns every role of a deployment that does something by itself or for an operator.
func callers(t *testing.T, d *deployment) map[string]caller {
	t.Helper()
	out := map[string]caller{}
	for _, host := range functionNames {
		tpl := read(t, d.stackName(host))
		about := encrypted("Role.Arn of " + host)
		for _, tag := range list(at(t, tpl.of("AWS::IAM::Role")["Role"].Properties, "Tags")) {
			about["aws:PrincipalTag/"+tag.(object)["Key"].(string)] = tag.(object)["Value"].(string)
		}
		out[host] = caller{policyNamed(t, tpl, "AWS::IAM::Policy", "Role/DefaultPolicy"), about}
	}
	data := read(t, d.stackName("data"))
	for name := range data.of("AWS::IAM::Policy") {
		role := strings.TrimSuffix(name, "/DefaultPolicy")
		out[strings.ToLower(role)] = caller{policyNamed(t, data, "AWS::IAM::Policy", name), encrypted(role + ".Arn")}
	}
	return out
}

// encrypted returns the keys of a request of a role over TLS.
func encrypted(role string) map[string]string {
	return map[string]string{"aws:SecureTransport": "true", "s3:TlsVersion": "1.3", "aws:PrincipalArn": role}
}

// bucketPolicy returns the policy of the bucket that a deployment uses.
func bucketPolicy(t *testing.T, d *deployment) rolePolicy {
	t.Helper()
	construct := "Objects/Policy"
	if d.Adopted.Bucket != "" {
		construct = "AdoptedPolicy"
	}
	return policyNamed(t, read(t, d.stackName("data")), "AWS::S3::BucketPolicy", construct)
}

// may evaluates the role's policy together with that of the bucket.
func (c caller) may(bucket rolePolicy, action, resource string) bool {
	return c.rights.allows(action, resource, c.about) && !bucket.has(true, action, resource, c.about)
}

func TestWhoMayDestroyAndBringBack(t *testing.T) {
	for name, d := range made {
		bucket, all := bucketPolicy(t, d), callers(t, d)
		for _, row := range destructive {
			resource := d.inUse(strings.Replace(row.resource, "NAME", name, 1))
			for who, c := range all {
				want := slices.Contains(strings.Fields(row.who), who) || who == "recovery" && d.changesAsRestored(row.action, row.resource)
				if got := c.may(bucket, row.action, resource); got != want {
					t.Errorf("%s: %s may %s on %s: %v, want %v", name, who, row.action, resource, got, want)
				}
			}
		}
	}
}

// everything is the rights of whoever administers the account, or of a function whose role was changed.
var everything = rolePolicy{{actions: []string{"*"}, resources: []string{"*"}}}

func TestTheBucketProtectsOldVersionsFromAFunctionWithAllRights(t *testing.T) {
	for name, d := range made {
		bucket := bucketPolicy(t, d)
		for host, c := range callers(t, d) {
			if !slices.Contains(functionNames, host) {
				continue
			}
			c.rights = everything
			for _, action := range []string{"s3:DeleteObjectVersion", "s3:GetObjectVersion"} {
				if c.may(bucket, action, d.inUse("Objects.Arn/o/1")) {
					t.Errorf("%s: %s may %s", name, host, action)
				}
			}
			for _, action := range []string{"s3:ListBucketVersions", "s3:PutBucketVersioning", "s3:PutLifecycleConfiguration",
				"s3:PutBucketPolicy", "s3:DeleteBucketPolicy"} {
				if c.may(bucket, action, d.inUse("Objects.Arn")) {
					t.Errorf("%s: %s may %s", name, host, action)
				}
			}
			if !c.may(bucket, "s3:DeleteObject", d.inUse("Objects.Arn/o/1")) {
				t.Errorf("%s: the bucket denies %s more than it has to", name, host)
			}
		}
	}
}

// An administrator who is denied everything could not give a deployment up.
func TestTheBucketLocksNobodyOutWhoDeploys(t *testing.T) {
	admin := caller{everything, encrypted("arn:aws:iam::111122223333:role/admin")}
	for name, d := range made {
		bucket := bucketPolicy(t, d)
		if got := admin.may(bucket, "s3:DeleteObjectVersion", d.inUse("Objects.Arn/o/1")); got == d.Keep {
			t.Errorf("%s: an administrator may delete versions: %v, while data is kept: %v", name, got, d.Keep)
		}
		for _, action := range []string{"s3:ListBucketVersions", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy",
			"s3:PutLifecycleConfiguration", "s3:PutBucketVersioning"} {
			if !admin.may(bucket, action, d.inUse("Objects.Arn")) {
				t.Errorf("%s: an administrator may not %s", name, action)
			}
		}
	}
}

func TestTheRecoveryRoleIsForPrincipalsOfTheAccount(t *testing.T) {
	tpl := read(t, "Plain-Data")
	trust := at(t, tpl.of("AWS::IAM::Role")["Recovery"].Properties, "AssumeRolePolicyDocument", "Statement")
	if n := len(list(trust)); n != 1 {
		t.Errorf("%d statements say who may assume it", n)
	}
	if who := tpl.text(at(t, trust, 0, "Principal", "AWS")); who != "arn:AWS::Partition:iam::AWS::AccountId:root" {
		t.Errorf("%s may assume it", who)
	}
	if role := tpl.text(tpl.Outputs["RecoveryRole"].Value); role != "Recovery.Arn" {
		t.Errorf("the output names %s", role)
	}
}
