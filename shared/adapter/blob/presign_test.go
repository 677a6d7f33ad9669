package blob_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

var (
	home   = id.NewWorkspace()
	object = tree.Object{Session: id.NewSession(), Entry: 7}
	digest = tree.Digest(sha256.Sum256([]byte("hello")))
)

// newOfflineClient returns a client in Frankfurt that only signs.
func newOfflineClient(provider aws.CredentialsProvider, options ...func(*s3.Options)) *s3.Client {
	return s3.NewFromConfig(aws.Config{Region: "eu-central-1", Credentials: provider}, options...)
}

func fixed() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "session-token")
}

func presign(t *testing.T, s *blob.Store, d *tree.Digest, life time.Duration) upload.PutTarget {
	t.Helper()
	target := expect.Value(s.Presign(t.Context(), home, object, 5, d, time.Now().Add(life)))(t)
	return target
}

func query(t *testing.T, target upload.PutTarget) url.Values {
	t.Helper()
	u := expect.Value(url.Parse(target.URL))(t)
	return u.Query()
}

func TestF14TheSignatureCoversTheHeaders(t *testing.T) {
	s := blob.New(newOfflineClient(fixed()), "bucket", "")
	for _, c := range []struct {
		name    string
		digest  *tree.Digest
		signed  string
		headers map[string]string
	}{
		{"with a digest", &digest, "content-length;host;if-none-match;x-amz-checksum-sha256", map[string]string{
			"content-length": "5", "if-none-match": "*", "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
		}},
		{"without one", nil, "content-length;host;if-none-match",
			map[string]string{"content-length": "5", "if-none-match": "*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := presign(t, s, c.digest, time.Minute)
			q := query(t, target)
			if got := q.Get("X-Amz-SignedHeaders"); got != c.signed {
				t.Errorf("signed are %s, want %s", got, c.signed)
			}
			if !maps.Equal(target.Headers, c.headers) {
				t.Errorf("required are %v, want %v", target.Headers, c.headers)
			}
			names := slices.Sorted(maps.Keys(q))
			if want := "X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires X-Amz-Security-Token X-Amz-Signature " +
				"X-Amz-SignedHeaders x-id"; strings.Join(names, " ") != want {
				t.Errorf("in the query are %v", names)
			}
		})
	}
}

func TestF15AFileWithoutBytesGetsNoURL(t *testing.T) {
	s := blob.New(newOfflineClient(fixed()), "bucket", "")
	for _, size := range []int64{0, -1} {
		target, err := s.Presign(t.Context(), home, object, size, &tree.EmptyDigest, time.Now().Add(time.Minute))
		if expect.Code(t, err, fault.Internal); target.URL != "" {
			t.Errorf("%d bytes: %s", size, target.URL)
		}
	}
}

func TestTheUploadHostTakesThePlaceOfTheBucket(t *testing.T) {
	const own = "https://bucket.s3.eu-central-1.amazonaws.com"
	synctest.Test(t, func(t *testing.T) { // with a fixed clock
		direct := presign(t, blob.New(newOfflineClient(fixed()), "bucket", ""), &digest, time.Minute).URL
		if path := own + "/o/" + string(home) + "/" + string(object.Session) + "/007?"; !strings.HasPrefix(direct, path) {
			t.Errorf("%s, want %s", direct, path)
		}
		for edge, want := range map[string]string{
			"https://upload.example":  "https://upload.example",
			"http://localhost:8702/":  "http://localhost:8702",
			"https://upload.example/": "https://upload.example",
		} {
			target := presign(t, blob.New(newOfflineClient(fixed()), "bucket", edge), &digest, time.Minute)
			if target.URL != strings.Replace(direct, own, want, 1) {
				t.Errorf("edge %q: %s, want %s of %s", edge, target.URL, want, direct)
			}
		}
	})
}

func TestABucketInThePathCannotGoThroughTheEdge(t *testing.T) {
	client := newOfflineClient(fixed(), func(o *s3.Options) { o.UsePathStyle = true })
	_, err := blob.New(client, "bucket", "https://upload.example").Presign(t.Context(), home, object, 5, nil,
		time.Now().Add(time.Minute))
	expect.Code(t, err, fault.Internal)
	presign(t, blob.New(client, "bucket", ""), nil, time.Minute) // S3 itself takes it
}

func TestTheOriginOfUploadsIsThatOfTheirURLs(t *testing.T) {
	path := newOfflineClient(fixed(), func(o *s3.Options) { o.UsePathStyle = true })
	for name, s := range map[string]*blob.Store{
		"the bucket":           blob.New(newOfflineClient(fixed()), "bucket", ""),
		"a bucket in the path": blob.New(path, "bucket", ""),
		"the edge":             blob.New(newOfflineClient(fixed()), "bucket", "https://upload.example/"),
	} {
		target := presign(t, s, nil, time.Minute)
		u := expect.Value(url.Parse(target.URL))(t)
		if got := s.PutOrigin(); got != u.Scheme+"://"+u.Host {
			t.Errorf("%s: %s, but URLs are %s", name, got, target.URL)
		}
	}
}

// fakeProvider returns credentials one after the other; a life of 0 makes the retrieval fail.
type fakeProvider struct {
	lives []time.Duration
	given int
}

func (p *fakeProvider) Retrieve(context.Context) (aws.Credentials, error) {
	life := p.lives[min(p.given, len(p.lives)-1)]
	p.given++
	if life == 0 {
		return aws.Credentials{}, errors.New("https://provider.invalid/?token=secret does not answer")
	}
	return aws.Credentials{
		AccessKeyID:     "KEY" + string(rune('0'+p.given)),
		SecretAccessKey: "secret",
		CanExpire:       true,
		Expires:         time.Now().Add(life),
	}, nil
}

func TestF17AURLLastsAsLongAsItsCredentials(t *testing.T) {
	const asked = 15 * time.Minute
	for _, c := range []struct {
		name   string
		lives  []time.Duration
		key    string // of the credentials that sign
		life   time.Duration
		given  int // how often the provider is asked, for two URLs
		cached bool
	}{
		{"they last", []time.Duration{time.Hour}, "KEY1", asked, 1, true},
		{"they are refreshed first", []time.Duration{5 * time.Minute, time.Hour}, "KEY2", asked, 2, true},
		{"fresh ones end early too", []time.Duration{5 * time.Minute, 10 * time.Minute, time.Hour}, "KEY2", 10 * time.Minute,
			2, true},
		{"they cannot be refreshed", []time.Duration{5 * time.Minute, 0}, "KEY1", 5 * time.Minute, 3, true},
		{"nobody caches them", []time.Duration{5 * time.Minute}, "KEY2", 5 * time.Minute, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := &fakeProvider{lives: c.lives}
				var from aws.CredentialsProvider = provider
				if c.cached {
					from = aws.NewCredentialsCache(provider)
				}
				s := blob.New(newOfflineClient(from), "bucket", "https://upload.example")
				first, target := presign(t, s, &digest, asked), presign(t, s, &digest, asked)
				if until := time.Now().Add(c.life); !target.Expires.Equal(until) || !first.Expires.Equal(until) {
					t.Errorf("expires %s and %s, want %s", first.Expires, target.Expires, until)
				}
				q := query(t, target)
				if key, _, _ := strings.Cut(q.Get("X-Amz-Credential"), "/"); key != c.key {
					t.Errorf("signed with %s, want %s", key, c.key)
				}
				signed, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
				life, err2 := time.ParseDuration(q.Get("X-Amz-Expires") + "s")
				if err != nil || err2 != nil || !signed.Add(life).Equal(target.Expires) {
					t.Errorf("the URL ends %s (%v, %v), the answer says %s", signed.Add(life), err, err2, target.Expires)
				}
				if provider.given != c.given {
					t.Errorf("the provider was asked %d times, want %d", provider.given, c.given)
				}
			})
		})
	}
}

func TestF17CredentialsAreRefreshedAgainWhenTheyHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := &fakeProvider{lives: []time.Duration{10 * time.Minute, 10 * time.Minute, 10 * time.Minute, time.Hour}}
		s := blob.New(newOfflineClient(aws.NewCredentialsCache(provider)), "bucket", "")
		presign(t, s, nil, 15*time.Minute)
		time.Sleep(11 * time.Minute) // in a bubble
		target := presign(t, s, nil, 15*time.Minute)
		if want := time.Now().Add(15 * time.Minute); !target.Expires.Equal(want) || provider.given != 4 {
			t.Errorf("expires %s after asking %d times, want %s", target.Expires, provider.given, want)
		}
	})
}

func TestAURLNeverOutlivesTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond) // in a bubble: signatures have whole seconds
		s := blob.New(newOfflineClient(fixed()), "bucket", "")
		target := presign(t, s, nil, 90*time.Second)
		if got := query(t, target).Get("X-Amz-Expires"); got != "90" || target.Expires.After(time.Now().Add(90*time.Second)) {
			t.Errorf("%s s, until %s", got, target.Expires)
		}
		if got := query(t, presign(t, s, nil, 30*24*time.Hour)).Get("X-Amz-Expires"); got != "604800" {
			t.Errorf("a month is %s s", got)
		}
	})
}

func TestWithoutTimeOrCredentialsThereIsNoURL(t *testing.T) {
	for name, c := range map[string]struct {
		provider aws.CredentialsProvider
		life     time.Duration
	}{
		"no time is left":  {fixed(), 0},
		"the time is over": {fixed(), -time.Hour},
		"no credentials":   {nil, time.Minute},
		"none can be had":  {aws.NewCredentialsCache(&fakeProvider{lives: []time.Duration{0}}), time.Minute},
		"they ended": {aws.CredentialsProviderFunc((&fakeProvider{lives: []time.Duration{-1}}).Retrieve),
			time.Minute},
		"they are empty words": {credentials.NewStaticCredentialsProvider("", "", ""), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := blob.New(newOfflineClient(c.provider), "bucket", "")
			target, err := s.Presign(t.Context(), home, object, 5, nil, time.Now().Add(c.life))
			expect.Code(t, err, fault.StorageUnavailable)
			if target.URL != "" || err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("got %s, %v", target.URL, err)
			}
		})
	}
}
