package blob_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// newRefusingStore is a store on an S3 that answers every request with 403 and a code, as S3 does:
// without a body to HEAD.
func newRefusingStore(t *testing.T, code string) *blob.Store {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
		}
	}))
	t.Cleanup(server.Close)
	client := s3.New(s3.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(server.URL),
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	return blob.New(client, "bucket", "")
}

// A role that may read an object but not list the bucket is not told that the object is gone.
func TestADeniedReadIsAnObjectThatIsGone(t *testing.T) {
	s := newRefusingStore(t, "AccessDenied")
	home := id.NewWorkspace()
	o := tree.Object{Session: id.NewSession()}
	_, err := s.Open(t.Context(), home, o, 0, 1)
	expect.Code(t, err, fault.NotFound)
	_, err = s.Head(t.Context(), home, o)
	expect.Code(t, err, fault.NotFound)
}

func TestWhatElseIsDeniedIsAnOutage(t *testing.T) {
	home, o := id.NewWorkspace(), tree.Object{Session: id.NewSession()}
	denied := newRefusingStore(t, "AccessDenied")
	_, err := denied.List(t.Context(), home, o.Session, false)
	expect.Code(t, err, fault.StorageUnavailable)
	expect.Code(t, denied.Put(t.Context(), home, o, []byte("x"), tree.Digest{}), fault.StorageUnavailable)
	expect.Code(t, denied.DeleteAll(t.Context(), map[id.Workspace][]tree.Object{home: {o}}), fault.StorageUnavailable)
	for _, code := range []string{"InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed"} {
		_, err := newRefusingStore(t, code).Open(t.Context(), home, o, 0, 1)
		expect.Code(t, err, fault.StorageUnavailable)
	}
	if _, err := denied.Presign(t.Context(), home, o, 1, nil, time.Now().Add(time.Minute)); err != nil {
		t.Error(err) // no request is sent
	}
}
