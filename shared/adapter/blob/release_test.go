package blob_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/release"
)

var checksums = release.File{Version: "0.2.0", Name: release.Checksums}

func TestAFileOfAReleaseIsReadThroughTheEdge(t *testing.T) {
	e := start(t)
	name := checksums.Path()
	expect.Value(e.client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &e.bucket, Key: &name, Body: strings.NewReader("sums")}))(t)
	at := expect.Value(e.ReleaseURL(t.Context(), checksums, time.Now().Add(5*time.Minute)))(t)
	u := expect.Value(url.Parse(at))(t)
	q := u.Query()
	if !strings.HasPrefix(at, e.edge+"/cli/0.2.0/checksums.txt?") || q.Get("X-Amz-SignedHeaders") != "host" ||
		q.Get("X-Amz-Expires") != "300" && q.Get("X-Amz-Expires") != "299" {
		t.Errorf("it is at %s", at)
	}
	response := expect.Value(http.Get(at))(t)
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 200 || string(text) != "sums" {
		t.Errorf("%s %q, %v", response.Status, text, err)
	}
	if refused := expect.Value(http.Post(at, "text/plain", strings.NewReader("others")))(t); refused.Body.Close() == nil &&
		refused.StatusCode < 400 {
		t.Errorf("a POST to it is answered with %s", refused.Status)
	}
}

func TestAFileThatIsNotStoredHasNoURL(t *testing.T) {
	e := start(t)
	for _, f := range []release.File{
		{Version: "0.0.1", Name: release.Checksums},
		{Version: "0.2.0", Name: "../../o/x"},
	} {
		at, err := e.ReleaseURL(t.Context(), f, time.Now().Add(time.Minute))
		if expect.Code(t, err, fault.NotFound); at != "" {
			t.Errorf("%v is at %s", f, at)
		}
	}
	e.chaos.On("HeadObject").Always().Before(chaos.Unreachable)
	_, err := e.ReleaseURL(t.Context(), checksums, time.Now().Add(time.Minute))
	expect.Code(t, err, fault.StorageUnavailable)
}

func TestAURLThatHasNoTimeLeftIsNotMade(t *testing.T) {
	e := start(t)
	name := checksums.Path()
	expect.Value(e.client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &e.bucket, Key: &name, Body: strings.NewReader("sums")}))(t)
	_, err := e.ReleaseURL(t.Context(), checksums, time.Now())
	expect.Code(t, err, fault.StorageUnavailable)
	path := blob.New(newOfflineClient(fixed(), func(o *s3.Options) { o.UsePathStyle = true }), "bucket", "https://upload.example")
	_, err = path.ReleaseURL(t.Context(), release.File{}, time.Now().Add(time.Minute))
	expect.Code(t, err, fault.NotFound)
}
