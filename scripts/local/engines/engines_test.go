package engines

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
)

func TestBothEnginesGiveBackWhatTheyWereGiven(t *testing.T) {
	e := start(t, Options{})
	table := "Given" + rand.Text()
	createTable(t, e, table)
	putItem(t, e, table, "a")
	wantItem(t, e, table, "a")
	putObject(t, e, "o/given", "bytes")
	wantObject(t, e, "o/given", "bytes")
}

func TestARestartKeepsThePortAndTheData(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir()})
	createTable(t, e, "Kept")
	ends := map[string]func(*Process) error{
		"after a stop": (*Process).Stop,
		"after a kill": func(p *Process) error { p.Kill(); return nil },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			putItem(t, e, "Kept", name)
			putObject(t, e, "o/"+name, "bytes")
			for _, p := range []*Process{e.DynamoDBProcess, e.S3Process} {
				if err := end(p); err != nil {
					t.Fatal(err)
				}
				if _, err := statusOf(t.Context(), p.url()); err == nil {
					t.Fatalf("%s still answers", p.name)
				}
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			wantItem(t, e, "Kept", name)
			wantObject(t, e, "o/"+name, "bytes")
		})
	}
}

func TestS3WorksOnAFilesystemWithoutAttributes(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "s3", "metadata"), 0o700); err != nil {
		t.Fatal(err) // s3d keeps to the sidecar that it finds
	}
	e := start(t, Options{Dir: dir})
	putOnce := func() error {
		_, err := objects(e).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket:      &e.Bucket,
			Key:         aws.String("o/sidecar"),
			Body:        strings.NewReader("bytes"),
			IfNoneMatch: aws.String("*"),
		})
		return err
	}
	if err := putOnce(); err != nil {
		t.Fatal(err)
	}
	e.S3Process.Kill()
	if err := e.S3Process.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantObject(t, e, "o/sidecar", "bytes")
	expect.Error(t, putOnce(), "StatusCode: 412")
}

func TestAnUnknownAccessKeyIsInvalidAccessKeyId(t *testing.T) {
	stranger := *start(t, Options{})
	stranger.AccessKey = "stranger"
	_, err := objects(&stranger).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &stranger.Bucket})
	expect.Error(t, err, "StatusCode: 403", "InvalidAccessKeyId")
}

func TestTheTimeThatAnObjectGaveIsNotOlderThanTheObject(t *testing.T) {
	e := start(t, Options{})
	putObject(t, e, "o/timed", "bytes")
	key := aws.String("o/timed")
	head, err := objects(e).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &e.Bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = objects(e).GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: &e.Bucket, Key: key, IfModifiedSince: head.LastModified})
	expect.Error(t, err, "StatusCode: 304")
	_, err = objects(e).HeadObject(t.Context(), &s3.HeadObjectInput{
		Bucket:            &e.Bucket,
		Key:               key,
		IfUnmodifiedSince: head.LastModified,
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEnginesThatStartAtOnceHaveDifferentPorts(t *testing.T) {
	const stacks = 4
	urls := make(chan string, 2*stacks)
	var group sync.WaitGroup
	for range stacks {
		group.Go(func() {
			e, err := Start(t.Context(), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer e.Close()
			urls <- e.DynamoDB
			urls <- e.S3
		})
	}
	group.Wait()
	close(urls)
	seen := map[string]bool{}
	for url := range urls {
		if seen[url] {
			t.Errorf("%s was given twice", url)
		}
		seen[url] = true
	}
}

func TestAStoppedEngineLeavesItsPortToNobodyElse(t *testing.T) {
	e := start(t, Options{})
	if err := e.DynamoDBProcess.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		listener, err := net.Listen("tcp4", address(0))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if strings.HasSuffix(e.DynamoDB, listener.Addr().String()) {
			t.Fatalf("%s was given away", e.DynamoDB)
		}
	}
	if err := e.DynamoDBProcess.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAPortInUseIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp4", address(0))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, o := range map[string]Options{
		"DynamoDB": {DynamoDBPort: listener.Addr().(*net.TCPAddr).Port},
		"S3":       {S3Port: listener.Addr().(*net.TCPAddr).Port},
	} {
		_, err := Start(t.Context(), o)
		expect.Error(t, err, name+" engine", "port "+port+" is not free", "choose another")
	}
}

func TestCloseAndKillRemoveTemporaryData(t *testing.T) {
	ends := map[string]func(*Engines) error{
		"Close": (*Engines).Close,
		"Kill":  func(e *Engines) error { e.Kill(); return nil },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			e := start(t, Options{})
			putObject(t, e, "o/gone", "bytes")
			if err := end(e); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(e.temporary); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", e.temporary, err)
			}
		})
	}
}

func TestTheEnvironmentNamesEnginesThatRun(t *testing.T) {
	running := start(t, Options{})
	t.Setenv(EnvDynamoDB, running.DynamoDB)
	t.Setenv(EnvS3, running.S3)
	e := start(t, Options{})
	if e.DynamoDB != running.DynamoDB || e.S3 != running.S3 || e.S3Host() != running.S3Host() {
		t.Errorf("got %+v, want the addresses of %+v", e, running)
	}
	if e.DynamoDBProcess != nil || e.S3Process != nil {
		t.Error("an engine was started all the same")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	putObject(t, running, "o/still-there", "bytes")
}

func TestANamedEngineThatDoesNotAnswerIsAnError(t *testing.T) {
	held, err := holdPort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.release()
	for _, variable := range []string{EnvDynamoDB, EnvS3} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "http://"+address(held.number))
			_, err := Start(t.Context(), Options{})
			expect.Error(t, err, variable, "unset")
		})
	}
}

func TestTheEndOfAnEngineIsSeen(t *testing.T) {
	e := start(t, Options{})
	for _, p := range []*Process{e.DynamoDBProcess, e.S3Process} {
		ended := p.Ended()
		select {
		case <-ended:
			t.Fatalf("the %s has ended already", p.name)
		default:
		}
		p.Kill()
		<-ended
		<-p.Ended()
	}
}

func TestAnEngineThatEndsAtOnceIsQuoted(t *testing.T) {
	p := scripted("echo no luck today >&2; exit 3")
	_, err := p.open(t.Context(), 0)
	expect.Error(t, err, "exit status 3", "no luck today")
}

func TestAnEngineThatNeverAnswersIsKilled(t *testing.T) {
	p := scripted("echo thinking; exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	p.log = writerFunc(func(b []byte) (int, error) { cancel(); return len(b), nil })
	_, err := p.open(ctx, 0)
	expect.Error(t, err, "no answer", "thinking")
	if p.running != nil {
		t.Error("it still counts as running")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// scripted is an engine that is a shell script.
func scripted(script string) *Process {
	return &Process{
		name:   "scripted engine",
		health: "/",
		log:    io.Discard,
		command: func(int) []string {
			return []string{"sh", "-c", script}
		},
	}
}

func start(t *testing.T, o Options) *Engines {
	t.Helper()
	e, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Kill)
	return e
}

func database(e *Engines) *dynamodb.Client {
	return e.DynamoDBClient()
}

func createTable(t *testing.T, e *Engines, name string) {
	t.Helper()
	_, err := database(e).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: "S"}},
	})
	expect.OK(t, err)
}

func putItem(t *testing.T, e *Engines, table, key string) {
	t.Helper()
	item := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key}}
	if _, err := database(e).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func wantItem(t *testing.T, e *Engines, table, key string) {
	t.Helper()
	id := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key}}
	got, err := database(e).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: id})
	if err != nil || len(got.Item) == 0 {
		t.Errorf("item %s: %v, %v", key, got, err)
	}
}

func objects(e *Engines) *s3.Client {
	return e.S3Client()
}

func putObject(t *testing.T, e *Engines, key, body string) {
	t.Helper()
	in := &s3.PutObjectInput{Bucket: &e.Bucket, Key: &key, Body: strings.NewReader(body)}
	if _, err := objects(e).PutObject(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func wantObject(t *testing.T, e *Engines, key, body string) {
	t.Helper()
	out, err := objects(e).GetObject(t.Context(), &s3.GetObjectInput{Bucket: &e.Bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	got, err := io.ReadAll(out.Body)
	if err != nil || !bytes.Equal(got, []byte(body)) {
		t.Errorf("object %s: %d bytes, %v; want %d", key, len(got), err, len(body))
	}
}
