package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestFilesAreCopiedWithTheirDeleteMarkers(t *testing.T) {
	for stack, account := range map[string]any{"Named-Data": "444455556666", "Bare-Data": nil} {
		tpl := read(t, stack)
		p := at(t, tpl.of("AWS::S3::Bucket")["Objects"].Properties, "ReplicationConfiguration").(object)
		if role := tpl.text(p["Role"]); role != "Copy.Arn" {
			t.Errorf("%s: %s copies", stack, role)
		}
		to := object{"Bucket": copyBucket, "EncryptionConfiguration": object{"ReplicaKmsKeyID": copyKey}}
		if account != nil {
			to["Account"], to["AccessControlTranslation"] = account, object{"Owner": "Destination"}
		}
		same(t, stack, p["Rules"], []any{object{
			"Id":                      "files",
			"Status":                  "Enabled",
			"Priority":                1,
			"Filter":                  object{"Prefix": "o/"},
			"DeleteMarkerReplication": object{"Status": "Enabled"},
			"SourceSelectionCriteria": object{"SseKmsEncryptedObjects": object{"Status": "Enabled"}},
			"Destination":             to,
		}})
	}
	for _, stack := range []string{"Plain-Data", "Loose-Data"} {
		if read(t, stack).of("AWS::S3::Bucket")["Objects"].Properties["ReplicationConfiguration"] != nil {
			t.Errorf("%s copies without being asked", stack)
		}
	}
}

// What the key of the second bucket is used for has to come through S3 in that bucket's region.
const forCopies = " " + copyKey + " if StringEquals kms:ViaService s3.eu-central-1.amazonaws.com"

func TestTheRoleThatCopiesMayDoThisAndNoMore(t *testing.T) {
	want := slices.Concat(
		on("Objects.Arn", "s3:GetReplicationConfiguration", "s3:ListBucket"),
		on("Objects.Arn/o/*", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"),
		on(copyBucket+"/o/*", "s3:ReplicateObject", "s3:ReplicateDelete"),
		[]string{"kms:Decrypt" + forObjects, "kms:Encrypt" + forCopies, "kms:GenerateDataKey" + forCopies})
	for stack, more := range map[string][]string{
		"Bare-Data": nil, "Named-Data": on(copyBucket+"/o/*", "s3:ObjectOwnerOverrideToBucketOwner"),
	} {
		got := policyNamed(t, read(t, stack), "AWS::IAM::Policy", "Copy/DefaultPolicy").lines()
		same(t, stack, got, slices.Sorted(slices.Values(slices.Concat(want, more))))
	}
}

func TestTheRoleThatExportsMayDoThisAndNoMore(t *testing.T) {
	tpl := read(t, "Named-Data")
	same(t, "rights", policyNamed(t, tpl, "AWS::IAM::Policy", "Export/DefaultPolicy").lines(),
		slices.Sorted(slices.Values(slices.Concat(
			on("Core.Arn", "dynamodb:ExportTableToPointInTime"), on("Events.Arn", "dynamodb:ExportTableToPointInTime"),
			on(copyBucket+"/exports/Named/*", "s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"),
			[]string{"kms:Decrypt" + forCopies, "kms:GenerateDataKey" + forCopies}))))
	trust := at(t, tpl.of("AWS::IAM::Role")["Export"].Properties, "AssumeRolePolicyDocument", "Statement", 0).(object)
	same(t, "who assumes it", trust["Principal"], object{"Service": "scheduler.amazonaws.com"})
	same(t, "for which account", trust["Condition"],
		object{"StringEquals": object{"aws:SourceAccount": object{"Ref": "AWS::AccountId"}}})
}

func TestTablesAreExportedDaily(t *testing.T) {
	tpl := read(t, "Named-Data")
	schedules := tpl.of("AWS::Scheduler::Schedule")
	if len(schedules) != 2 || len(read(t, "Bare-Data").of("AWS::Scheduler::Schedule")) != 0 {
		t.Fatalf("there are %d schedules where exports are on, and some where they are not", len(schedules))
	}
	for _, table := range []string{"Core", "Events"} {
		p := schedules["Export"+table].Properties
		same(t, "how often", p["ScheduleExpression"], "rate(1 day)")
		if target := tpl.text(at(t, p, "Target", "Arn")); !strings.HasSuffix(target,
			":scheduler:::aws-sdk:dynamodb:exportTableToPointInTime") {
			t.Errorf("%s calls %s", table, target)
		}
		var input map[string]string
		if err := json.Unmarshal([]byte(tpl.text(at(t, p, "Target", "Input"))), &input); err != nil {
			t.Fatal(err)
		}
		same(t, "request", input, map[string]string{
			"ClientToken":    "<aws.scheduler.execution-id>",
			"TableArn":       table + ".Arn",
			"S3Bucket":       "vitrine-copy",
			"S3BucketOwner":  "444455556666",
			"S3Prefix":       "exports/Named",
			"S3SseAlgorithm": "KMS",
			"S3SseKmsKeyId":  copyKey,
		})
		late := tpl.of("AWS::CloudWatch::Alarm")["Overdue"+table].Properties
		same(t, "hours without a start", []any{late["EvaluationPeriods"], late["Period"], late["TreatMissingData"]},
			[]any{26, 3600, "breaching"})
		same(t, "where starts are counted", at(t, late, "Dimensions", 0), object{
			"Name": "ScheduleGroup", "Value": p["GroupName"],
		})
		same(t, "who hears of it", late["AlarmActions"], []any{"arn:aws:sns:us-east-1:111122223333:alarms"})
	}
}

func TestKeyRingsHaveReplicasWhereTheOptionsSay(t *testing.T) {
	for stack, want := range map[string]any{
		"Plain-Data": nil,
		"Bare-Data":  []any{object{"Region": "eu-central-1"}},
		"Named-Data": []any{object{"KmsKeyId": ringsKey, "Region": "eu-central-1"}},
	} {
		for _, ring := range ringNames {
			same(t, stack+"/"+ring, read(t, stack).of("AWS::SecretsManager::Secret")[ring].Properties["ReplicaRegions"], want)
		}
	}
}
