package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// inUse maps the ARNs of tables and bucket of the stack Data to those that a deployment uses instead.
func (a adopted) inUse() map[string]string {
	out := map[string]string{}
	const table = "arn:AWS::Partition:dynamodb:AWS::Region:AWS::AccountId:table/"
	if a.tables() {
		out["Core.Arn"], out["Events.Arn"] = table+a.Core, table+a.Events
		out["Hot.Arn"] = table + a.Hot
	}
	if a.Bucket != "" {
		out["Objects.Arn"] = "arn:AWS::Partition:s3:::" + a.Bucket
	}
	return out
}

// inUse returns the ARN that a deployment uses for one of the stack Data.
func (d *deployment) inUse(arn string) string {
	for own, used := range d.Adopted.inUse() {
		arn = strings.Replace(arn, own, used, 1)
	}
	return arn
}

// changesAsRestored reports whether the recovery role may do something to an adopted table, whose name is that of a
// restored one.
func (d *deployment) changesAsRestored(action, resource string) bool {
	return d.Adopted.tables() && slices.Contains([]string{"Core.Arn", "Events.Arn", "Hot.Arn"}, resource) &&
		action != "dynamodb:DeleteTable" && slices.Contains(slices.Concat(makeTable, restoreTable), action)
}

// asOwn names what a function uses as if the stack Data had it, so that the same tests apply to adopted tables. What is
// really the stack's own is marked, and no test expects that mark.
func (p rolePolicy) asOwn(tpl *template) rolePolicy {
	name, _, _ := strings.Cut(tpl.name, "-")
	d := made[name]
	if d == nil {
		return p
	}
	var pairs []string
	for own, used := range d.Adopted.inUse() {
		pairs = append(pairs, own, "unused "+own, used, own)
	}
	names := strings.NewReplacer(pairs...)
	for n, s := range p {
		for m, r := range s.resources {
			p[n].resources[m] = names.Replace(r)
		}
		for key, value := range s.conditions {
			p[n].conditions[key] = names.Replace(value.(string))
		}
	}
	return p
}

func TestAnAdoptedBucketIsGuardedAsOurOwn(t *testing.T) {
	tpl := read(t, "Adopted-Data")
	adopted := policyNamed(t, tpl, "AWS::S3::BucketPolicy", "AdoptedPolicy").asOwn(tpl).lines()
	own := policyNamed(t, tpl, "AWS::S3::BucketPolicy", "Objects/Policy").lines()
	same(t, "what the adopted bucket denies", adopted, own)
	if len(own) < 20 {
		t.Errorf("our own bucket denies only %q", own)
	}
	same(t, "the bucket of the policy", tpl.of("AWS::S3::BucketPolicy")["AdoptedPolicy"].Properties["Bucket"],
		"adopted-objects")
}

func TestOutputsNameWhatIsAdopted(t *testing.T) {
	outputs := read(t, "Adopted-Data").Outputs
	for output, want := range map[string]string{
		"CoreTable":   "Adopted-restore-1-core",
		"EventsTable": "Adopted-restore-1-events",
		"HotTable":    "Adopted-restore-1-hot",
		"Bucket":      "adopted-objects",
	} {
		same(t, output, outputs[output].Value, want)
	}
}

// A deployment that adopts keeps the tables and the bucket that it had.
func TestAdoptingRemovesNothing(t *testing.T) {
	before, after := read(t, "Plain-Data"), read(t, "Adopted-Data")
	for _, kind := range []string{"AWS::DynamoDB::GlobalTable", "AWS::KMS::Key", "AWS::S3::Bucket"} {
		same(t, kind, slices.Sorted(maps.Keys(after.of(kind))), slices.Sorted(maps.Keys(before.of(kind))))
	}
	for name, table := range before.of("AWS::DynamoDB::GlobalTable") {
		same(t, name, after.of("AWS::DynamoDB::GlobalTable")[name].Properties, table.Properties)
	}
}

func TestExportsAndCopiesReadWhatIsAdopted(t *testing.T) {
	tpl := read(t, "Adopted-Data")
	d := made["Adopted"]
	for role, want := range map[string][]string{
		"Export/DefaultPolicy": {
			"dynamodb:ExportTableToPointInTime " + d.inUse("Core.Arn"),
			"dynamodb:ExportTableToPointInTime " + d.inUse("Events.Arn"),
		},
		"Copy/DefaultPolicy": {"s3:GetReplicationConfiguration " + d.inUse("Objects.Arn")},
		"Recovery/DefaultPolicy": {
			"dynamodb:RestoreTableToPointInTime Core.Arn", "dynamodb:RestoreTableToPointInTime " + d.inUse("Core.Arn"),
			"s3:DeleteObjectVersion " + d.inUse("Objects.Arn/o/*"),
		},
	} {
		got := policyNamed(t, tpl, "AWS::IAM::Policy", role).lines()
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s may not %s", role, line)
			}
		}
	}
}
