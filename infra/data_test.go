package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/adapter/dynamo"
)

// recorder answers every call to DynamoDB with an empty success and keeps the inputs of
// CreateTable.
type recorder struct{ tables []object }

func (r *recorder) Do(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".CreateTable") {
		var table object
		if err := json.Unmarshal(body, &table); err != nil {
			return nil, err
		}
		r.tables = append(r.tables, table)
	}
	answer := &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{},
		Body:       io.NopCloser(bytes.NewReader([]byte("{}"))),
	}
	return answer, nil
}

func TestTheTablesAreThoseOfOneMachine(t *testing.T) {
	calls := &recorder{}
	client := dynamodb.New(dynamodb.Options{
		HTTPClient:   calls,
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
		BaseEndpoint: aws.String("http://tables.invalid"),
	})
	if err := dynamo.CreateTables(t.Context(), client,
		dynamo.Tables{Core: "Core", Events: "Events", Hot: "Hot"}); err != nil {
		t.Fatal(err)
	}
	deployed := read(t, "Plain-Data").of("AWS::DynamoDB::GlobalTable")
	if len(calls.tables) != len(deployed) {
		t.Fatalf("%d tables are deployed and %d made on one machine", len(deployed), len(calls.tables))
	}
	for _, local := range calls.tables {
		name := local["TableName"].(string)
		table := deployed[name]
		if table == nil {
			t.Fatalf("table %s is not deployed", name)
		}
		for _, property := range []string{"AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode"} {
			same(t, property+" of "+name, sorted(table.Properties[property]), sorted(local[property]))
		}
		same(t, "time to live of "+name, table.Properties["TimeToLiveSpecification"],
			object{"AttributeName": "ttl", "Enabled": true})
	}
}

// sorted puts a list into an order; attributes and indexes have none.
func sorted(v any) any {
	l, ok := v.([]any)
	if !ok {
		return v
	}
	l = slices.Clone(l)
	slices.SortFunc(l, func(a, b any) int {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Compare(x, y)
	})
	return l
}

// The projection of an index cannot be changed once a table is deployed.
func TestListsCanShowWhateverAnItemHas(t *testing.T) {
	core := read(t, "Plain-Data").of("AWS::DynamoDB::GlobalTable")["Core"]
	for _, index := range core.Properties["GlobalSecondaryIndexes"].([]any) {
		want := map[any]string{"gsi1": "ALL", "gsi2": "KEYS_ONLY"}[index.(object)["IndexName"]]
		same(t, "what the index carries", index.(object)["Projection"], object{"ProjectionType": want})
	}
}

func TestTablesTakeNoMoreThanTheOptionsSay(t *testing.T) {
	for stack, want := range map[string][]any{
		"Plain-Data": {nil, nil}, "Named-Data": {object{"MaxReadRequestUnits": 9000}, object{"MaxWriteRequestUnits": 3000}},
	} {
		for name, table := range read(t, stack).of("AWS::DynamoDB::GlobalTable") {
			replica := at(t, table.Properties, "Replicas", 0).(object)
			same(t, stack+"/"+name+": reads", replica["ReadOnDemandThroughputSettings"], want[0])
			same(t, stack+"/"+name+": writes", table.Properties["WriteOnDemandThroughputSettings"], want[1])
		}
	}
}

func TestOnlyCoreHasAStream(t *testing.T) {
	for name, table := range read(t, "Plain-Data").of("AWS::DynamoDB::GlobalTable") {
		want := any(nil)
		if name == "Core" {
			want = object{"StreamViewType": "NEW_AND_OLD_IMAGES"}
		}
		same(t, "stream of "+name, table.Properties["StreamSpecification"], want)
	}
}

func TestTablesCanBeRestoredAndNotBeDeleted(t *testing.T) {
	for stack, protected := range map[string]bool{"Plain-Data": true, "Named-Data": true, "Loose-Data": false} {
		for name, table := range read(t, stack).of("AWS::DynamoDB::GlobalTable") {
			replica := at(t, table.Properties, "Replicas", 0).(object)
			same(t, stack+"/"+name+": deletion protection", replica["DeletionProtectionEnabled"], protected)
			if name == "Hot" {
				same(t, stack+"/"+name+": restore", replica["PointInTimeRecoverySpecification"], nil)
				continue
			}
			same(t, stack+"/"+name+": restore", replica["PointInTimeRecoverySpecification"],
				object{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35})
		}
	}
}

func TestDataOutlivesItsStackUnlessTheContextSaysOtherwise(t *testing.T) {
	kinds := []string{"AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::KMS::Key",
		"AWS::Cognito::UserPool"}
	for stack, want := range map[string]string{"Plain-Data": "Retain", "Named-Data": "Retain", "Loose-Data": "Delete"} {
		tpl, count := read(t, stack), 0
		for id, r := range tpl.Resources {
			if !slices.Contains(kinds, r.Type) {
				continue
			}
			count++
			if r.DeletionPolicy != want || r.UpdateReplacePolicy != want {
				t.Errorf("%s/%s: %s on deletion and %s on replacement, want %s", stack, tpl.construct(id), r.DeletionPolicy,
					r.UpdateReplacePolicy, want)
			}
		}
		things := 3 + 2 + 5 + 1
		if stack != "Loose-Data" {
			things += 2 // people, and the secret of the client at their pool
		}
		if count != things {
			t.Errorf("%s keeps %d things, want %d", stack, count, things)
		}
	}
}

func TestOnlyProductionStacksRefuseTheirEnd(t *testing.T) {
	var manifest struct {
		Artifacts map[string]struct {
			Properties struct{ TerminationProtection bool }
		}
	}
	readJSON(t, &manifest, "manifest.json")
	for name, d := range made {
		for _, part := range append([]string{"data"}, functionNames...) {
			stack, there := manifest.Artifacts[d.stackName(part)]
			if !there {
				t.Errorf("there is no stack %s", d.stackName(part))
			}
			same(t, d.stackName(part), stack.Properties.TerminationProtection, name == "Named")
		}
	}
}

func TestTheBucketIsPrivateAndForgetsLeftovers(t *testing.T) {
	tpl := read(t, "Plain-Data")
	buckets := tpl.of("AWS::S3::Bucket")
	for name, b := range buckets {
		same(t, name+": public access", b.Properties["PublicAccessBlockConfiguration"],
			object{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true})
		same(t, name+": owner", at(t, b.Properties, "OwnershipControls", "Rules", 0, "ObjectOwnership"),
			"BucketOwnerEnforced")
		want := map[string]any{"Objects": object{"Status": "Enabled"}}[name]
		same(t, name+": versions", b.Properties["VersioningConfiguration"], want)
	}
	p := buckets["Objects"].Properties
	encryption := at(t, p, "BucketEncryption", "ServerSideEncryptionConfiguration", 0).(object)
	same(t, "bucket key", encryption["BucketKeyEnabled"], true)
	if key := tpl.text(at(t, encryption, "ServerSideEncryptionByDefault", "KMSMasterKeyID")); key != "Key.Arn" {
		t.Errorf("objects are encrypted with %s", key)
	}
	if log := tpl.text(at(t, p, "LoggingConfiguration", "DestinationBucketName")); log != "AccessLog" {
		t.Errorf("access is logged to %q", log)
	}
	same(t, "rotation of the key", tpl.only(t, "AWS::KMS::Key").Properties["EnableKeyRotation"], true)
}

func TestOldVersionsOfFilesLiveAsLongAsTheOptionSaysAndOthersADay(t *testing.T) {
	kept := func(days int) object { return object{"NoncurrentDays": days} }
	for stack, days := range map[string]int{"Plain-Data": 14, "Named-Data": 30} {
		p := read(t, stack).of("AWS::S3::Bucket")["Objects"].Properties
		same(t, stack, at(t, p, "LifecycleConfiguration", "Rules"), []any{
			object{"AbortIncompleteMultipartUpload": object{"DaysAfterInitiation": 1}, "Id": "unfinished", "Status": "Enabled"},
			object{"ExpiredObjectDeleteMarker": true, "Id": "markers", "Status": "Enabled"},
			object{"Id": "files", "NoncurrentVersionExpiration": kept(days), "Prefix": "o/", "Status": "Enabled"},
			object{"Id": "bundles", "NoncurrentVersionExpiration": kept(1), "Prefix": "b/", "Status": "Enabled"},
			object{
				"ExpirationInDays": 2, "Id": "diffs", "NoncurrentVersionExpiration": kept(1), "Prefix": "d/", "Status": "Enabled",
			},
			object{
				"ExpirationInDays": 14, "Id": "exports", "NoncurrentVersionExpiration": kept(1), "Prefix": "x/", "Status": "Enabled",
			},
			object{"Id": "releases", "NoncurrentVersionExpiration": kept(1), "Prefix": "cli/", "Status": "Enabled"},
		})
	}
}

// Access logs that S3 delivers late must not delay the deletion of a deployment for long.
func TestAccessLogsGoSoonWhereDataGoesWithItsStack(t *testing.T) {
	for stack, want := range map[string]int{"Plain-Data": 90, "Named-Data": 90, "Loose-Data": 1} {
		rules := at(t, read(t, stack).of("AWS::S3::Bucket")["AccessLog"].Properties, "LifecycleConfiguration", "Rules")
		same(t, stack, rules, []any{
			object{
				"AbortIncompleteMultipartUpload": object{"DaysAfterInitiation": 1}, "ExpirationInDays": want, "Id": "expire",
				"Status": "Enabled",
			},
		})
	}
}

func TestTheBucketTakesTLSItsOwnEncryptionAndNewObjectsOnly(t *testing.T) {
	tpl := read(t, "Plain-Data")
	policies := tpl.of("AWS::S3::BucketPolicy")
	var denied []string
	for _, s := range at(t, policies["Objects/Policy"].Properties, "PolicyDocument", "Statement").([]any) {
		statement := s.(object)
		same(t, "effect", statement["Effect"], "Deny") // no grant comes from the bucket's side
		about := ""
		for _, r := range list(statement["Resource"]) {
			about += " " + tpl.text(r)
		}
		denied = append(denied, tpl.text(statement["Action"])+about+" if "+tpl.text(statement["Condition"]))
	}
	for _, want := range []string{
		`s3:* Objects.Arn Objects.Arn/* if {"Bool":{"aws:SecureTransport":"false"}}`,
		`s3:* Objects.Arn Objects.Arn/* if {"NumericLessThan":{"s3:TlsVersion":1.2}}`,
		`s3:PutObject Objects.Arn/* if {"Null":{"s3:x-amz-server-side-encryption":"false"},"StringNotEquals":{"s3:x-amz-server-side-encryption":"aws:kms"}}`,
		`s3:PutObject Objects.Arn/d/* Objects.Arn/o/* if {"Null":{"s3:if-none-match":"true"}}`,
	} {
		if !slices.Contains(denied, want) {
			t.Errorf("the bucket does not deny %s but %q", want, denied)
		}
	}
}

// A change here makes CloudFormation replace the secrets, which ends every credential and URL of
// every deployment.
func TestRingsAreBornAsASeed(t *testing.T) {
	rings := read(t, "Plain-Data").of("AWS::SecretsManager::Secret")
	for _, name := range ringNames {
		if rings[name] == nil {
			t.Errorf("there is no secret %s", name)
			continue
		}
		same(t, name, rings[name].Properties["GenerateSecretString"],
			object{"ExcludePunctuation": true, "GenerateStringKey": "seed", "PasswordLength": 64, "SecretStringTemplate": "{}"})
	}
}

// CloudFormation refuses to change an output while another stack imports it, so that a deployment
// could not change an option that such an output depends on.
func TestWhatDataExportsDependsOnNoOption(t *testing.T) {
	want := exports(t, "Plain")
	if len(want) < 15 {
		t.Fatalf("Plain exports %d values only: %q", len(want), want)
	}
	for name := range made {
		same(t, "what "+name+" exports", exports(t, name), want)
		for _, host := range functionNames {
			tpl := read(t, made[name].stackName(host))
			text, _ := json.Marshal(tpl.Resources)
			if strings.Contains(string(text), "ExportsOutput") && !strings.Contains(string(text), name+"-Data:ExportsOutput") {
				t.Errorf("%s imports from another stack than Data", tpl)
			}
		}
	}
}

// exports returns the values that the stack Data of a deployment exports, by name.
func exports(t *testing.T, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	tpl := read(t, name+"-Data")
	for _, o := range tpl.Outputs {
		if o.Export.Name != "" {
			out[strings.TrimPrefix(o.Export.Name, name)] = tpl.text(o.Value)
		}
	}
	return out
}
