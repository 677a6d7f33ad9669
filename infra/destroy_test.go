package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leftover is a sandbox in which scripts/destroy meets a stand-in for AWS, with the remains of a deployment: a file a
// stack, which holds its status, and a file a bucket, which holds a key a line.
type leftover struct{ *sandbox }

const emptyingStandIn = `#!/usr/bin/env bash
echo "aws $*" >>"$CALLS"
stack() { [ -e "stacks/$1" ] || { echo "Stack with id $1 does not exist" >&2; exit 254; }; }
case "$1 $2" in
  "sts get-caller-identity") [ "$CREDENTIALS" = yes ] && echo 111122223333 ;;
  "configure get") echo eu-west-1 ;;
  "cloudformation describe-stacks")
    if [ -n "$OUTAGE" ]; then echo "An error occurred (Throttling): Rate exceeded" >&2; exit 254; fi
    stack "$4"
    case $6 in *Tags*) echo "$ENVIRONMENT" ;; *) cat "stacks/$4" ;; esac ;;
  "cloudformation get-template")
    stack "$4"
    case $4 in
      V-Data) echo "{\"Resources\":{\"Core\":{\"DeletionPolicy\":\"$POLICY\"}},
        \"Outputs\":{\"CoreTable\":{\"Value\":\"restored-core\"},\"Bucket\":{\"Value\":{\"Ref\":\"Objects\"}}}}" ;;
      *) echo '{"Resources":{"Role":{"DeletionPolicy":"Retain"},"Log":{"DeletionPolicy":"Delete"}}}' ;;
    esac ;;
  "cloudformation list-stack-resources")
    stack "$4"
    row() { printf '%s\t%s\t%s\t%s\n' "$@"; }
    [ "$4" = V-Data ] || { row Role AWS::IAM::Role "role-of-$4" CREATE_COMPLETE; row Log AWS::Logs::LogGroup log CREATE_COMPLETE; }
    [ "$4" != V-Data ] || for b in buckets/*; do
      if [ "$(cat "stacks/$4")" != DELETE_FAILED ] || [ -s "$b" ]; then
        row "${b#buckets/}" AWS::S3::Bucket "${b#buckets/}" "$(cat "stacks/$4")"
      fi
    done ;;
  "cloudformation delete-stack") echo DELETE_IN_PROGRESS >"stacks/$4" ;;
  "cloudformation wait")
    if [ "$5" = V-Data ] && [ "$(grep -c "delete-stack --stack-name V-Data" "$CALLS")" -le "${LATE:-0}" ]; then
      echo late >>buckets/log
    fi
    if [ "$5" = V-Data ] && [ -n "$(cat buckets/*)" ]; then echo DELETE_FAILED >"stacks/$5"; exit 255; fi
    rm "stacks/$5" ;;
  "s3api list-object-versions")
    node -e '
      const keys = require("fs").readFileSync(process.argv[1], "utf8").split("\n").filter(k => k).slice(0, 2);
      if (keys.length) console.log(JSON.stringify({ Versions: keys.slice(0, 1).map(Key => ({ Key, VersionId: "null" })),
        DeleteMarkers: keys.slice(1).map(Key => ({ Key, VersionId: "marker" })) }));
    ' "buckets/$4" ;;
  "s3api delete-objects")
    if [ -n "$DENIED" ]; then echo '{"Errors":[{"Key":"a","Code":"AccessDenied"}]}'; exit; fi
    node -e '
      const fs = require("fs"), file = process.argv[1], gone = JSON.parse(fs.readFileSync(process.argv[2])).Objects.map(o => o.Key);
      const left = fs.readFileSync(file, "utf8").split("\n").filter(k => k && !gone.includes(k));
      fs.writeFileSync(file, left.map(k => k + "\n").join(""));
    ' "buckets/$4" "${6#file://}" ;;
esac
`

// deployed is the settings file.
const deployed = ".vitrine/deployed/V.json"

func newLeftover(t *testing.T) leftover {
	t.Helper()
	files := map[string]string{
		"bin/aws":         emptyingStandIn,
		deployed:          `{"V-Data": {"Bucket": "objects", "CopyBucket": "arn:aws:s3:::second"}, "V-Api": {}, "V-Content": {"Url": "https://x"}, "V-Gone": {}}`,
		"buckets/objects": "o/1\no/2\no/3\n",
		"buckets/log":     "old\n",
	}
	for _, stack := range []string{"V-Data", "V-Api", "V-Content"} {
		files["stacks/"+stack] = "CREATE_COMPLETE\n"
	}
	return leftover{newSandbox(t, "destroy", files, "CREDENTIALS=yes", "ENVIRONMENT=preview", "POLICY=Delete", "OUTAGE=",
		"LATE=", "DENIED=")}
}

// destroy runs the script with changes to its environment and the typed input; calls are its calls.
func (l leftover) destroy(t *testing.T, env []string, typed string, args ...string) (stderr, calls string, ok bool) {
	t.Helper()
	_, stderr, calls, ok = l.run(t, env, typed, args...)
	return stderr, calls, ok
}

func (l leftover) has(file string) bool {
	_, err := os.Stat(filepath.Join(l.folder, file))
	return err == nil
}

func TestDestroyRefusesBeforeItDeletesAnything(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		env   []string
		typed string
		args  []string
		want  string
	}{
		{"no name", nil, "", nil, "Which deployment?"},
		{"two names", nil, "", []string{"V", "W"}, "One deployment at a time"},
		{"a word that is no option", nil, "", []string{"V", "--force"}, "--force is no option"},
		{"a deployment that nobody knows", nil, "", []string{"W", "--yes"}, "there is no .vitrine/deployed/W.json"},
		{"the file of another", nil, "", []string{"W", "--yes", "--settings", deployed}, "is that the right file?"},
		{"no credentials", []string{"CREDENTIALS=no"}, "", []string{"V", "--yes"}, "AWS does not accept your credentials"},
		{"an outage", []string{"OUTAGE=yes"}, "", []string{"V", "--yes"}, "CloudFormation does not answer"},
		{"production", []string{"ENVIRONMENT=production"}, "", []string{"V", "--yes"}, "ends previews only"},
		{"somebody else's stack", []string{"ENVIRONMENT="}, "", []string{"V", "--yes"}, "the environment that nobody knows"},
		{"data that is kept", []string{"POLICY=Retain"}, "", []string{"V", "--yes"}, "the same options and -c keep=no"},
		{"nobody to ask", nil, "", []string{"V"}, "pass --yes"},
		{"another name is typed", nil, "v\n", []string{"V"}, "nothing was deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLeftover(t)
			stderr, calls, ok := l.destroy(t, tt.env, tt.typed, tt.args...)
			if ok || !strings.Contains(stderr, tt.want) {
				t.Errorf("got %v with %q, want %q", ok, stderr, tt.want)
			}
			for _, never := range []string{"delete-", "put-"} {
				if strings.Contains(calls, never) {
					t.Errorf("it did\n%s", calls)
				}
			}
			if !l.has(deployed) {
				t.Error("what was deployed is forgotten")
			}
		})
	}
}

func TestDestroyEndsHostsThenBytesThenData(t *testing.T) {
	t.Parallel()
	l := newLeftover(t)
	stderr, calls, ok := l.destroy(t, nil, "V\n", "V")
	if !ok {
		t.Fatalf("%s\n%s", stderr, calls)
	}
	for _, gone := range []string{"stacks/V-Data", "stacks/V-Api", "stacks/V-Content", deployed} {
		if l.has(gone) {
			t.Errorf("%s is left:\n%s", gone, calls)
		}
	}
	last := -1
	for _, next := range []string{
		"put-bucket-logging --bucket objects --bucket-logging-status {}", "delete-stack --stack-name V-Api",
		"wait stack-delete-complete --stack-name V-Content",
		"delete-objects --bucket objects", "delete-stack --stack-name V-Data",
	} {
		at := strings.Index(calls, next)
		if at <= last {
			t.Errorf("%q is not in its place:\n%s", next, calls)
		}
		last = at
	}
	for _, want := range []string{
		"account 111122223333, eu-west-1", "V-Api V-Content V-Data", "objects: 3 objects are deleted",
		"log: 1 objects are deleted", "AWS::IAM::Role role-of-V-Content", "keeps for 35 days",
		"what was copied to arn:aws:s3:::second",
		"  restored-core, which a restore made and V adopted: delete it by hand",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr, "objects, which a restore made") {
		t.Errorf("it says that the stack's own bucket was adopted:\n%s", stderr)
	}
	if strings.Contains(stderr, "AWS::Logs::LogGroup") {
		t.Errorf("it says that a log stays:\n%s", stderr)
	}
	if stderr, _, ok := l.destroy(t, nil, "", "V", "--yes"); ok || !strings.Contains(stderr, "Nothing is known of V") {
		t.Errorf("the next time: %v, %s", ok, stderr)
	}
}

func TestDestroyEmptiesABucketThatGotALateLogAgain(t *testing.T) {
	t.Parallel()
	l := newLeftover(t)
	stderr, calls, ok := l.destroy(t, []string{"LATE=2"}, "", "V", "--yes")
	n := strings.Count(calls, "delete-stack --stack-name V-Data")
	if !ok || n != 3 || !strings.Contains(stderr, "because of log (AWS::S3::Bucket log)") {
		t.Errorf("%v after %d attempts:\n%s", ok, n, stderr)
	}
}

func TestDestroyThatCannotEndSaysWhyAndGoesOnTheNextTime(t *testing.T) {
	t.Parallel()
	l := newLeftover(t)
	stderr, _, ok := l.destroy(t, []string{"LATE=3"}, "", "V", "--yes")
	const why = "V-Data is not deleted because of log (AWS::S3::Bucket log): run this again in an hour"
	if ok || !strings.Contains(stderr, why) || !l.has(deployed) {
		t.Fatalf("%v: %s", ok, stderr)
	}
	stderr, _, ok = l.destroy(t, nil, "", "V", "--yes")
	if !ok || l.has("stacks/V-Data") || !strings.Contains(stderr, "backups of the tables Core and Events") {
		t.Errorf("the next time: %v, %s", ok, stderr)
	}
	l = newLeftover(t)
	stderr, calls, ok := l.destroy(t, []string{"DENIED=yes"}, "", "V", "--yes")
	if ok || !strings.Contains(stderr, "S3 does not delete some objects") ||
		strings.Contains(calls, "delete-stack --stack-name V-Data") {
		t.Errorf("objects that nobody may delete: %v, %s", ok, stderr)
	}
}

func TestDestroyForgetsNothingInTheWrongRegion(t *testing.T) {
	t.Parallel()
	l := newLeftover(t)
	if err := os.RemoveAll(filepath.Join(l.folder, "stacks")); err != nil {
		t.Fatal(err)
	}
	stderr, _, ok := l.destroy(t, nil, "", "V", "--yes")
	if ok || !strings.Contains(stderr, "choose those that it was deployed to") || !l.has(deployed) {
		t.Errorf("%v: %s", ok, stderr)
	}
}
