package assembly

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
)

// An upgrade of the SDK that renames what the clients take out fails here, and not in a deployment.
func TestCallsCarryWhatAWSNeedsAndNoMore(t *testing.T) {
	var sent []*http.Request
	all := calls(clients(t, &Config{AWS: aws.Config{Region: "eu-west-1"}}, canned{&sent}))
	for range 2 {
		for _, one := range all {
			if err := one.make(t.Context()); err != nil {
				t.Errorf("%s: %v", one.name, err)
			}
		}
	}
	if want := 2 * (len(all) - 1); len(sent) != want { // presigning sends nothing
		t.Fatalf("%d requests, want %d", len(sent), want)
	}
	for _, r := range sent {
		what := r.Method + " " + r.URL.String() + " " + r.Header.Get("X-Amz-Target")
		if id := r.Header.Get("Amz-Sdk-Invocation-Id"); id != "" {
			t.Errorf("%s: it carries the invocation id %s", what, id)
		}
		if agent := r.Header.Get("User-Agent"); !strings.HasPrefix(agent, aws.SDKName+"/"+aws.SDKVersion) {
			t.Errorf("%s: its user agent is %q", what, agent)
		}
		if r.Header.Get("X-Amz-Security-Token") != "session" || r.Header.Get("X-Amz-Date") == "" {
			t.Errorf("%s: it carries no session or no date: %v", what, r.Header)
		}
		signed := signedHeaders(r)
		for _, name := range []string{"host", "x-amz-date", "x-amz-security-token"} {
			if !slices.Contains(signed, name) {
				t.Errorf("%s: %s is not signed, only %v", what, name, signed)
			}
		}
	}
}

func signedHeaders(r *http.Request) []string {
	_, list, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	list, _, _ = strings.Cut(list, ",")
	return strings.Split(list, ";")
}

// A plain client evaluates the rules of the SDK for each call.
func TestCallsGoWhereTheRulesOfTheSDKSendThem(t *testing.T) {
	for name, c := range map[string]Config{
		"eu-west-1":    {},
		"us-east-1":    {},
		"cn-north-1":   {},
		"eu-nowhere-9": {}, // a region still to come
		"tables-here":  {DynamoDBEndpoint: "http://127.0.0.1:8000"},
		"buckets-here": {S3Endpoint: "http://127.0.0.1:7070", S3Domain: "s3.test:7070"},
	} {
		c.AWS.Region = name
		var sent []*http.Request
		tables, buckets := clients(t, &c, canned{&sent})
		stores, objects := dynamo.New(tables, dynamo.Tables{Hot: "hot"}), blob.New(buckets, "bucket", "")
		for _, one := range append(tableCalls(stores)[2:3], objectCalls(objects)[1]) {
			if err := one.make(t.Context()); err != nil {
				t.Fatalf("%s: %s: %v", name, one.name, err)
			}
		}
		_, err1 := tables.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("hot"),
			Key:       map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "r"}},
		})
		_, err2 := buckets.HeadObject(t.Context(), headOf("bucket"))
		if err1 != nil || err2 != nil || len(sent) != 4 {
			t.Fatalf("%s: %v %v, %d requests", name, err1, err2, len(sent))
		}
		for n, got := range sent[:2] {
			want := sent[n+2]
			if diff := cmp.Diff(target(want), target(got)); diff != "" {
				t.Errorf("%s: (-rules +client)\n%s", name, diff)
			}
		}
	}
}

func headOf(bucket string) *s3.HeadObjectInput {
	return &s3.HeadObjectInput{Bucket: &bucket, Key: aws.String("o/x")}
}

var scope = regexp.MustCompile(`Credential=[^/]+/\d+/([^,]+)`)

// target tells where a request goes, for what it is signed, and who sends it.
func target(r *http.Request) []string {
	folder, _, _ := strings.Cut(r.URL.Path[1:], "/")
	return append(signedHeaders(r), r.URL.Scheme, r.URL.Host, folder, r.Header.Get("X-Amz-Content-Sha256"),
		scope.FindStringSubmatch(r.Header.Get("Authorization"))[1], r.Header.Get("User-Agent"))
}

func TestAStoreLeavesTheClientThatItIsGivenAsItWas(t *testing.T) {
	_, buckets := clients(t, &Config{AWS: aws.Config{Region: "eu-west-1"}}, canned{})
	blob.New(buckets, "bucket", "")
	if _, err := buckets.HeadObject(t.Context(), headOf("other")); err != nil {
		t.Errorf("the client that a store was made of changed: %v", err)
	}
}
