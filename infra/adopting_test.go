package main

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
)

// adoptable answers the program infra/adopted. DynamoDB is the local engine, except for what that does not know:
// backups, deletion protection and bounds. S3 is the answers of a bucket that is set as it should be.
type adoptable struct {
	program  string
	dynamodb http.Handler
	tables   map[string]object // what the engine does not tell of a table
	backups  object
	bucket   map[string]string // answers by what the query asks for
}

// dressed are tables and a bucket that lack nothing.
func dressed(t *testing.T, program string) *adoptable {
	t.Helper()
	e := engine.Shared(t)
	client := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(e.DynamoDB) })
	names := made["Adopted"].Adopted
	if err := dynamo.CreateTables(t.Context(), client,
		dynamo.Tables{Core: names.Core, Events: names.Events, Hot: names.Hot}); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(e.DynamoDB)
	if err != nil {
		t.Fatal(err)
	}
	a := &adoptable{
		program:  program,
		dynamodb: httputil.NewSingleHostReverseProxy(at),
		tables:   map[string]object{},
		bucket:   map[string]string{},
	}
	for _, name := range []string{names.Core, names.Events, names.Hot} {
		a.tables[name] = object{"DeletionProtectionEnabled": true}
	}
	a.tables[names.Core]["StreamSpecification"] = object{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	a.backups = object{"PointInTimeRecoveryStatus": "ENABLED", "RecoveryPeriodInDays": 35}
	maps.Copy(a.bucket, bucketAnswers)
	return a
}

// buildAdopted builds the program.
func buildAdopted(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "adopted")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./adopted")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

const policyRules = `<Rule><ID>unfinished</ID><Filter><Prefix></Prefix></Filter><Status>Enabled</Status>` +
	`<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>` +
	`</AbortIncompleteMultipartUpload></Rule>` +
	`<Rule><ID>markers</ID><Filter/><Status>Enabled</Status>` +
	`<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule>`

// lifecycleRule returns a life cycle rule as S3 answers it.
func lifecycleRule(id, prefix, expiration, noncurrent string) string {
	if expiration != "" {
		expiration = "<Expiration><Days>" + expiration + "</Days></Expiration>"
	}
	return "<Rule><ID>" + id + "</ID><Filter><Prefix>" + prefix + "</Prefix></Filter><Status>Enabled</Status>" +
		expiration +
		"<NoncurrentVersionExpiration><NoncurrentDays>" + noncurrent +
		"</NoncurrentDays></NoncurrentVersionExpiration></Rule>"
}

// lifecycleOf returns the life cycle of a bucket whose files have versions for some days.
func lifecycleOf(files string) string {
	return "<LifecycleConfiguration>" + policyRules + lifecycleRule("files", "o/", "", files) +
		lifecycleRule("exports", "x/", "14", "1") + lifecycleRule("diffs", "d/", "2", "1") +
		lifecycleRule("bundles", "b/", "", "1") + lifecycleRule("releases", "cli/", "", "1") + "</LifecycleConfiguration>"
}

var bucketAnswers = map[string]string{
	"versioning": `<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>`,
	"lifecycle":  lifecycleOf("14"),
	"encryption": `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>` +
		`<SSEAlgorithm>aws:kms</SSEAlgorithm><KMSMasterKeyID>arn:of:key</KMSMasterKeyID>` +
		`</ApplyServerSideEncryptionByDefault><BucketKeyEnabled>true</BucketKeyEnabled></Rule>` +
		`</ServerSideEncryptionConfiguration>`,
	"publicAccessBlock": `<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>` +
		`<IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>` +
		`<RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`,
	"ownershipControls": `<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>` +
		`</OwnershipControls>`,
	"cors": `<CORSConfiguration><CORSRule><AllowedOrigin>https://app.invalid</AllowedOrigin>` +
		`<AllowedMethod>PUT</AllowedMethod><AllowedHeader>if-none-match</AllowedHeader>` +
		`<AllowedHeader>x-amz-checksum-sha256</AllowedHeader><MaxAgeSeconds>600</MaxAgeSeconds></CORSRule>` +
		`</CORSConfiguration>`,
	"logging": `<BucketLoggingStatus><LoggingEnabled><TargetBucket>log</TargetBucket>` +
		`<TargetPrefix>objects/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`,
	"replication": `<ReplicationConfiguration><Role>arn:of:copy</Role><Rule><ID>files</ID><Priority>1</Priority>` +
		`<Status>Enabled</Status><Filter><Prefix>o/</Prefix></Filter><DeleteMarkerReplication><Status>Enabled</Status>` +
		`</DeleteMarkerReplication><SourceSelectionCriteria><SseKmsEncryptedObjects><Status>Enabled</Status>` +
		`</SseKmsEncryptedObjects></SourceSelectionCriteria><Destination><Bucket>` + copyBucket +
		`</Bucket><EncryptionConfiguration><ReplicaKmsKeyID>` + copyKey + `</ReplicaKmsKeyID></EncryptionConfiguration>` +
		`</Destination></Rule></ReplicationConfiguration>`,
}

func (a *adoptable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch call {
	case "":
		for asked := range r.URL.Query() {
			if answer, set := a.bucket[asked]; set {
				io.WriteString(w, answer)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "<Error><Code>NoSuchCORSConfiguration</Code></Error>")
	case "DescribeContinuousBackups":
		answer(w, object{"ContinuousBackupsDescription": object{
			"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": a.backups,
		}})
	case "DescribeTable":
		a.describe(w, r)
	default:
		a.dynamodb.ServeHTTP(w, r)
	}
}

// describe adds to the engine's answer what the engine does not know.
func (a *adoptable) describe(w http.ResponseWriter, r *http.Request) {
	engine := httptest.NewRecorder()
	a.dynamodb.ServeHTTP(engine, r)
	var out struct{ Table object }
	if err := json.Unmarshal(engine.Body.Bytes(), &out); err != nil || out.Table == nil {
		w.WriteHeader(engine.Code)
		w.Write(engine.Body.Bytes())
		return
	}
	maps.Copy(out.Table, a.tables[out.Table["TableName"].(string)])
	answer(w, out)
}

// answer writes an answer of DynamoDB, whose SDK compares the checksum.
func answer(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10))
	w.Write(text)
}

// adopts runs the program on the deployment Adopted and returns what it prints.
func (a *adoptable) adopts(t *testing.T, known settings) (string, bool) {
	t.Helper()
	folder := t.TempDir()
	var described description
	readJSON(t, &described, "Adopted", "deployment.json")
	described.Settings = filepath.Join(folder, "settings.json")
	template, err := os.ReadFile(filepath.Join(synthesised, "Adopted-Data.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	for file, v := range map[string]any{
		"deployment.json": described, "settings.json": known, "Adopted-Data.template.json": json.RawMessage(template),
	} {
		if err := writeJSON(filepath.Join(folder, file), v); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(a)
	defer server.Close()
	program := exec.CommandContext(t.Context(), a.program, "-synthesis", folder)
	program.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+server.URL, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=key",
		"AWS_SECRET_ACCESS_KEY=secret", "AWS_CONFIG_FILE="+os.DevNull)
	var stderr bytes.Buffer
	program.Stderr = &stderr
	err = program.Run()
	return stderr.String(), err == nil
}

// known is what the stack Data gives out.
var known = settings{"Adopted-Data": {"Key": "arn:of:key", "AccessLog": "log", "CopyRole": "arn:of:copy"}}

func TestWhatHasAllThatADeploymentHasIsAdopted(t *testing.T) {
	if printed, ok := dressed(t, buildAdopted(t)).adopts(t, known); !ok || printed != "" {
		t.Errorf("%v: %s", ok, printed)
	}
}

func TestWhatIsMissingIsNamedWithTheCommandThatSetsIt(t *testing.T) {
	program := buildAdopted(t)
	const core, bucket = "Adopted-restore-1-core", " --bucket adopted-objects\n"
	for name, tt := range map[string]struct {
		change func(*adoptable)
		want   string
	}{
		"no protection": {func(a *adoptable) { delete(a.tables[core], "DeletionProtectionEnabled") },
			"aws dynamodb update-table --table-name " + core + " --deletion-protection-enabled\n"},
		"no stream": {func(a *adoptable) { delete(a.tables[core], "StreamSpecification") },
			"--table-name " + core + " --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES\n"},
		"a bound": {func(a *adoptable) { a.tables[core]["OnDemandThroughput"] = object{"MaxReadRequestUnits": 5} },
			"--on-demand-throughput MaxReadRequestUnits=-1,MaxWriteRequestUnits=-1\n"},
		"an index less": {func(a *adoptable) { a.tables[core]["GlobalSecondaryIndexes"] = nil },
			"table " + core + ": GlobalSecondaryIndexes is not what a deployment has"},
		"other keys": {func(a *adoptable) {
			a.tables[core]["KeySchema"] = []object{{"AttributeName": "pk", "KeyType": "HASH"}}
		}, "neither keys nor attributes can be changed"},
		"few days": {func(a *adoptable) { a.backups["RecoveryPeriodInDays"] = 7 },
			"--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=35\n"},
		"no versions": {func(a *adoptable) { a.bucket["versioning"] = "<VersioningConfiguration/>" },
			`aws s3api put-bucket-versioning --versioning-configuration '{"Status":"Enabled"}'` + bucket},
		"versions for longer": {func(a *adoptable) { a.bucket["lifecycle"] = lifecycleOf("30") },
			`{"Filter":{"Prefix":"o/"},"ID":"files","NoncurrentVersionExpiration":{"NoncurrentDays":14},"Status":"Enabled"}`},
		"files that expire": {func(a *adoptable) {
			a.bucket["lifecycle"] = strings.Replace(lifecycleOf("14"), "</LifecycleConfiguration>",
				lifecycleRule("more", "o/", "90", "1")+"</LifecycleConfiguration>", 1)
		}, "bucket adopted-objects: LifecycleConfiguration is not what a deployment has"},
		"another key": {func(a *adoptable) {
			a.bucket["encryption"] = strings.Replace(bucketAnswers["encryption"], "arn:of:key", "arn:of:another", 1)
		}, `"KMSMasterKeyID":"arn:of:key"`},
		"a public bucket": {func(a *adoptable) { delete(a.bucket, "publicAccessBlock") },
			"aws s3api put-public-access-block --public-access-block-configuration"},
		"pages that cannot send": {func(a *adoptable) { delete(a.bucket, "cors") },
			`"AllowedOrigins":["https://app.invalid"],"MaxAgeSeconds":600}]}'` + bucket},
		"no log": {func(a *adoptable) { a.bucket["logging"] = "<BucketLoggingStatus/>" },
			`--bucket-logging-status '{"LoggingEnabled":{"TargetBucket":"log","TargetPrefix":"objects/"}}'` + bucket},
		"no copy": {func(a *adoptable) { delete(a.bucket, "replication") }, `"Role":"arn:of:copy"`},
	} {
		t.Run(name, func(t *testing.T) {
			a := dressed(t, program)
			tt.change(a)
			printed, ok := a.adopts(t, known)
			if ok || !strings.Contains(printed, tt.want) || !strings.Contains(printed, "run the commands above") {
				t.Errorf("%v: %s", ok, printed)
			}
		})
	}
}

func TestABucketIsAdoptedOnlyWhereTheStackDataIs(t *testing.T) {
	printed, ok := dressed(t, buildAdopted(t)).adopts(t, settings{})
	if ok || !strings.Contains(printed, "deploy once without the option bucket") {
		t.Errorf("%v: %s", ok, printed)
	}
}
