package assembly

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/sdk"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

const (
	cannedItem = `{"pk":{"S":"A#1"},"sk":{"S":"META"},"status":{"S":"active"},"title":{"S":"A report"},` +
		`"ws":{"S":"0190a1b2-0000-7000-8000-000000000000"},"created":{"N":"1790000000000"},"n":{"N":"7"},` +
		`"entry":{"S":"index.html"},"size":{"N":"4096"},"public":{"BOOL":true}}`
	cannedList = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>bucket</Name><KeyCount>1</KeyCount>` +
		`<IsTruncated>false</IsTruncated><Contents><Key>%s000</Key><Size>4096</Size></Contents></ListBucketResult>`
)

var cannedObject = strings.Repeat("x", 4096)

// cannedTables are what DynamoDB answers, by operation.
var cannedTables = map[string]string{
	"BatchGetItem":       `{"Responses":{"core":[` + cannedItem + "," + cannedItem + `]},"UnprocessedKeys":{}}`,
	"GetItem":            `{"Item":` + cannedItem + `}`,
	"Query":              `{"Count":2,"Items":[` + cannedItem + "," + cannedItem + `]}`,
	"UpdateItem":         `{"Attributes":{"c":{"N":"7"}}}`,
	"PutItem":            `{}`,
	"TransactWriteItems": `{}`,
}

// canned answers every request without a network, so that only what a client does itself is measured.
type canned struct{ sent *[]*http.Request }

// RoundTrip implements http.RoundTripper.
func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	if c.sent != nil {
		*c.sent = append(*c.sent, r)
	}
	header, status := http.Header{"Date": {"Mon, 28 Sep 2026 10:00:00 GMT"}}, http.StatusOK
	var body string
	operation, ofTables := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	switch {
	case ofTables:
		body = cannedTables[operation]
		header["X-Amzn-Requestid"] = []string{"6H0EXAMPLE"}
		header["X-Amz-Crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)}
	case r.URL.Query().Has("list-type"):
		body = fmt.Sprintf(cannedList, r.URL.Query().Get("prefix"))
	case r.Method != http.MethodPut:
		body, status = cannedObject, http.StatusPartialContent
	}
	length := len(body)
	if header["Content-Length"] = []string{strconv.Itoa(length)}; r.Method == http.MethodHead {
		body, status = "", http.StatusOK
	}
	return &http.Response{
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		ContentLength: int64(length),
		Body:          io.NopCloser(strings.NewReader(body)),
		Request:       r,
	}, nil
}

// clients are those of a deployment, with answers that are canned.
func clients(t testing.TB, c *Config, answers canned) (*dynamodb.Client, *s3.Client) {
	t.Helper()
	c.AWS.Credentials = credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "session")
	objects, err := c.s3()
	if err != nil {
		t.Fatal(err)
	}
	send := sdk.Sender{RoundTripper: answers}
	return dynamodb.New(c.dynamodb().Options(), func(o *dynamodb.Options) { o.HTTPClient = send }),
		s3.New(objects.Options(), func(o *s3.Options) { o.HTTPClient = send })
}

// call makes one call of a store.
type call struct {
	name string
	make func(context.Context) error
}

// calls are one of each kind.
func calls(tables *dynamodb.Client, buckets *s3.Client) []call {
	stores := dynamo.New(tables, dynamo.Tables{Core: "core", Events: "events", Hot: "hot"})
	return append(tableCalls(stores), objectCalls(blob.New(buckets, "bucket", ""))...)
}

func tableCalls(stores dynamo.Stores) []call {
	home := id.NewWorkspace()
	read := readaccess.Query{Workspace: home, Artifact: id.NewArtifact()}
	window := rate.Window{Kind: "read", Host: "content", Subject: string(home), End: time.Now().Add(time.Minute)}
	return []call{
		{"BatchGetItem", func(ctx context.Context) error { _, err := stores.Artifacts.ReadState(ctx, read); return err }},
		{"UpdateItem", func(ctx context.Context) error {
			_, _, err := stores.Counters.Count(ctx, window, 1, 600)
			return err
		}},
		{"GetItem", func(ctx context.Context) error { _, err := stores.Counters.Failures(ctx, window); return err }},
		{"PutItem", func(ctx context.Context) error { _, err := stores.Counters.Burn(ctx, "nonce", window.End); return err }},
		{"Query", func(ctx context.Context) error {
			_, _, err := stores.Keys.List(ctx, credential.KeyQuery{Which: credential.LiveKeys, Limit: 10})
			return err
		}},
		{"TransactWriteItems", func(ctx context.Context) error {
			return stores.Clients.Add(ctx, oauth.Client{ID: "client", Name: "A client"}, window.End)
		}},
	}
}

func objectCalls(objects *blob.Store) []call {
	home, object := id.NewWorkspace(), tree.Object{Session: id.NewSession()}
	body := bytes.Repeat([]byte("x"), 4096)
	digest := tree.Digest(sha256.Sum256(body))
	expires := time.Now().Add(time.Hour)
	return []call{
		{"GetObject", func(ctx context.Context) error {
			r, err := objects.Open(ctx, home, object, 0, int64(len(body)))
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = io.Copy(io.Discard, r)
			return err
		}},
		{"HeadObject", func(ctx context.Context) error { _, err := objects.Head(ctx, home, object); return err }},
		{"PutObject", func(ctx context.Context) error { return objects.Put(ctx, home, object, body, digest) }},
		{"ListObjectsV2", func(ctx context.Context) error {
			_, err := objects.List(ctx, home, object.Session, false)
			return err
		}},
		{"Presign", func(ctx context.Context) error {
			_, err := objects.Presign(ctx, home, object, int64(len(body)), &digest, expires)
			return err
		}},
	}
}
