package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

func TestOpenReadsTheAskedRange(t *testing.T) {
	s := start(t)
	s.store(t, 7, []byte("0123456789"))
	for _, c := range []struct {
		offset, size int64
		want         string
	}{{0, 10, "0123456789"}, {0, 1, "0"}, {3, 4, "3456"}, {9, 1, "9"}, {5, 0, ""}, {0, 0, ""}} {
		body := expect.Value(s.Open(t.Context(), s.home, s.object(7), c.offset, c.size))(t)
		got, err := io.ReadAll(body)
		if err != nil || string(got) != c.want || body.Close() != nil {
			t.Errorf("%d bytes from %d: %q, %v; want %q", c.size, c.offset, got, err, c.want)
		}
	}
}

func TestAnObjectThatIsGoneIsNotFound(t *testing.T) {
	s := start(t)
	_, err := s.Open(t.Context(), s.home, s.object(0), 0, 1)
	expect.Code(t, err, fault.NotFound)
	_, err = s.Head(t.Context(), s.home, s.object(0))
	expect.Code(t, err, fault.NotFound)
}

func TestAnObjectOfAnotherSizeIsNotOpened(t *testing.T) {
	s := start(t)
	s.store(t, 0, []byte("0123456789"))
	for _, c := range []struct{ offset, size int64 }{{0, 11}, {9, 2}, {10, 1}, {50, 1}} {
		_, err := s.Open(t.Context(), s.home, s.object(0), c.offset, c.size)
		expect.Code(t, err, fault.StorageUnavailable)
	}
}

func TestWhatNoObjectCanBeIsAnInternalError(t *testing.T) {
	s := start(t)
	calls := map[string]func() error{
		"a negative size":   func() error { _, err := s.Open(t.Context(), s.home, s.object(0), 0, -1); return err },
		"a negative offset": func() error { _, err := s.Open(t.Context(), s.home, s.object(0), -1, 1); return err },
		"no session":        func() error { _, err := s.Open(t.Context(), s.home, tree.Object{}, 0, 1); return err },
		"no workspace":      func() error { _, err := s.List(t.Context(), "", s.session, false); return err },
		"a stranger":        func() error { return s.DeleteAll(t.Context(), inHome(s.home, []tree.Object{s.object(-1)})) },
		"entry 10000":       func() error { _, err := s.Head(t.Context(), s.home, s.object(10_000)); return err },
		"no session at all": func() error { return s.DeleteSession(t.Context(), s.home, "") },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) { expect.Code(t, call(), fault.Internal) })
	}
}

func TestF62S3FailsBeforeTheFirstByte(t *testing.T) {
	for name, c := range map[string]struct {
		action chaos.Action
		times  int
		code   fault.Code
	}{
		"throttled once":   {chaos.Throttle, 1, ""},
		"broken twice":     {chaos.ServerError, 2, ""},
		"throttled always": {chaos.Throttle, 3, fault.StorageUnavailable},
		"broken always":    {chaos.ServerError, 3, fault.StorageUnavailable},
		"unreachable":      {chaos.Unreachable, 3, fault.StorageUnavailable},
		"silent":           {chaos.Timeout, 3, fault.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.store(t, 0, []byte("bytes"))
			s.chaos.On("GetObject").Times(c.times).Before(c.action)
			s.chaos.On("ListObjectsV2").Times(c.times).Before(c.action)
			body, err := s.Open(t.Context(), s.home, s.object(0), 0, 5)
			expect.Code(t, err, c.code)
			if err == nil {
				body.Close()
			}
			_, err = s.List(t.Context(), s.home, s.session, false)
			expect.Code(t, err, c.code)
		})
	}
}

func TestF63S3FailsAmongTheBytes(t *testing.T) {
	for name, c := range map[string]struct {
		action chaos.Action
		read   int64
		check  func(error) bool
	}{
		"a clean end":         {chaos.Cut(4000), 4000, isUnexpectedEOF},
		"an end at once":      {chaos.Cut(0), 0, isUnexpectedEOF},
		"one byte is missing": {chaos.Cut(int64(len(tenMB)) - 1), int64(len(tenMB)) - 1, isUnexpectedEOF},
		"a lost connection": {chaos.Break(4000), 4000,
			func(err error) bool { return fault.CodeOf(err) == fault.StorageUnavailable }},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.store(t, 0, tenMB)
			s.chaos.On("GetObject").After(c.action)
			body := expect.Value(s.Open(t.Context(), s.home, s.object(0), 0, int64(len(tenMB))))(t)
			defer body.Close()
			if n, err := io.Copy(io.Discard, body); n != c.read || !c.check(err) {
				t.Errorf("%d bytes, %v; want %d", n, err, c.read)
			}
		})
	}
}

func isUnexpectedEOF(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

func TestACancelledReadEnds(t *testing.T) {
	s := start(t)
	s.store(t, 0, tenMB)
	ctx, cancel := context.WithCancel(t.Context())
	body := expect.Value(s.Open(ctx, s.home, s.object(0), 0, int64(len(tenMB))))(t)
	defer body.Close()
	cancel()
	if _, err := io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, err := s.Open(ctx, s.home, s.object(0), 0, 1)
	if expect.Code(t, err, fault.StorageUnavailable); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestErrorsShowNoURL(t *testing.T) {
	s := start(t)
	s.chaos.On("GetObject").Times(3).Before(chaos.Timeout)
	s.chaos.On("ListObjectsV2").Before(chaos.Fail(errors.New("PUT /o/a?x-id=PutObject&X-Amz-Signature=secret: broken")))
	_, timeout := s.Open(t.Context(), s.home, s.object(0), 0, 1)
	_, relative := s.List(t.Context(), s.home, s.session, false)
	for err, rest := range map[error]string{timeout: "i/o timeout", relative: "PUT (URL) broken"} {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%v", errors.Unwrap(err))} {
			if strings.Contains(text, "X-Amz-") || strings.Contains(text, "http:") || !strings.Contains(text, rest) {
				t.Errorf("error %s", text)
			}
		}
		if shown := fault.Of(err).Message; strings.Contains(shown, rest) {
			t.Errorf("shown to everybody: %s", shown)
		}
	}
}

func TestListTellsSizesAndStrangers(t *testing.T) {
	s := start(t)
	if sizes, err := s.List(t.Context(), s.home, s.session, false); err != nil || len(sizes) != 0 {
		t.Errorf("an empty session holds %v, %v", sizes, err)
	}
	s.store(t, 0, []byte("0"))
	s.store(t, 42, []byte("42"))
	s.store(t, 999, []byte("999"))
	s.store(t, 1999, []byte("1999"))
	neighbour := s
	neighbour.session = id.NewSession()
	neighbour.store(t, 1, []byte("of another session"))
	for _, name := range []string{"10000", "0100", "x", "07", "-01"} {
		s.stray(t, name)
	}
	sizes, err := s.List(t.Context(), s.home, s.session, false)
	want := map[int]int64{0: 1, 42: 2, 999: 3, 1999: 4, -1: 5, -2: 5, -3: 5, -4: 5, -5: 5}
	if err != nil || !maps.Equal(sizes, want) {
		t.Errorf("listed %v, %v; want %v", sizes, err, want)
	}
}

func TestListReadsAllPages(t *testing.T) {
	s := start(t, inPagesOf(2))
	for i := range 5 {
		s.store(t, i, []byte("bytes"))
	}
	pages := s.chaos.On("ListObjectsV2").Always()
	sizes, err := s.List(t.Context(), s.home, s.session, false)
	if err != nil || len(sizes) != 5 || pages.Fired() != 3 {
		t.Errorf("listed %v in %d pages, %v", sizes, pages.Fired(), err)
	}
	s.chaos.On("ListObjectsV2").Nth(2).Times(3).Before(chaos.Throttle)
	_, err = s.List(t.Context(), s.home, s.session, false)
	expect.Code(t, err, fault.StorageUnavailable)
}

// stray stores an object of 5 bytes under a name that is not an entry.
func (e env) stray(t *testing.T, name string) {
	t.Helper()
	key := fmt.Sprintf("o/%s/%s/%s", e.home, e.session, name)
	_, err := e.client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &e.bucket, Key: &key, Body: strings.NewReader("stray")})
	expect.OK(t, err)
}

func inPagesOf(n int32) func(*s3.Options) {
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("pages", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				if list, ok := in.Parameters.(*s3.ListObjectsV2Input); ok {
					list.MaxKeys = aws.Int32(n)
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
		})
	}
}

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
