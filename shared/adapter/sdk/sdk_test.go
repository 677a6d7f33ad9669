package sdk_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/adapter/sdk"
)

var errSeen = errors.New("the request was seen")

// seen keeps the headers of requests instead of sending them.
type seen []http.Header

func (s *seen) RoundTrip(r *http.Request) (*http.Response, error) {
	*s = append(*s, r.Header)
	return nil, errSeen
}

func client(s *seen, edits ...func(*middleware.Stack) error) *s3.Client {
	return s3.New(s3.Options{
		Region:      "eu-west-1",
		Credentials: aws.AnonymousCredentials{},
		HTTPClient:  sdk.Sender{RoundTripper: s},
		Retryer:     aws.NopRetryer{},
		APIOptions:  edits,
	})
}

func TestTrimmedCallsSendTheUserAgentOfTheSDKAndNoInvocation(t *testing.T) {
	var whole, trimmed seen
	plain, trim := client(&whole), client(&trimmed, sdk.Trim())
	in := &s3.HeadObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")}
	for _, c := range []*s3.Client{plain, trim, trim, trim} {
		if _, err := c.HeadObject(t.Context(), in); !errors.Is(err, errSeen) {
			t.Fatal(err)
		}
	}
	const invocation = "Amz-Sdk-Invocation-Id"
	want := whole[0].Get("User-Agent")
	if want == "" || whole[0].Get(invocation) == "" {
		t.Fatalf("the SDK sends neither a user agent nor an invocation: %v", whole[0])
	}
	for _, header := range trimmed {
		if encoding := header.Get("Accept-Encoding"); encoding != "" {
			t.Errorf("it accepts the encoding %s", encoding)
		}
		if got := header["User-Agent"]; len(got) != 1 || got[0] != want {
			t.Errorf("the user agent is %q, want %q", got, want)
		}
		if id := header.Get(invocation); id != "" {
			t.Errorf("the invocation is %s", id)
		}
	}
}

// The paginators of the SDK look for its middleware and write into the header that they find.
func TestAPaginatorOfATrimmedClientDoesNotChangeLaterCalls(t *testing.T) {
	var sent seen
	c := client(&sent, sdk.Trim())
	head := func() {
		_, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
		if !errors.Is(err, errSeen) {
			t.Fatal(err)
		}
	}
	head()
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: aws.String("bucket")})
	if _, err := pages.NextPage(t.Context()); !errors.Is(err, errSeen) {
		t.Fatal(err)
	}
	head()
	if first, last := sent[0].Get("User-Agent"), sent[2].Get("User-Agent"); first != last {
		t.Errorf("the user agent was %q and is %q", first, last)
	}
}

func TestAStackWithoutWhatIsTakenOutIsAnError(t *testing.T) {
	for _, name := range []string{"ClientRequestID", "UserAgent", "DisableAcceptEncodingGzip"} {
		var sent seen
		c := client(&sent, func(s *middleware.Stack) error {
			s.Build.Remove(name) // it is in one of the two
			s.Finalize.Remove(name)
			return nil
		}, sdk.Trim())
		_, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s the call says %v", name, err)
		}
	}
}
