package blob

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

var _ upload.Objects = (*Store)(nil)

// maxSignedLife is the longest lifetime that S3 accepts in a signed URL.
const maxSignedLife = 7 * 24 * time.Hour

// Presign implements upload.Objects. It refuses empty files, because a length of zero is not signed and the URL would
// accept any bytes.
func (s *Store) Presign(
	ctx context.Context,
	home id.Workspace,
	o tree.Object,
	size int64,
	digest *tree.Digest,
	expires time.Time,
) (upload.PutTarget, error) {
	name, err := key(home, o)
	if err != nil {
		return upload.PutTarget{}, err
	}
	if size <= 0 {
		return upload.PutTarget{}, fmt.Errorf("entry %d of session %s has %d bytes and no upload", o.Entry, o.Session, size)
	}
	terms, err := s.terms(ctx, expires)
	if err != nil {
		return upload.PutTarget{}, err
	}
	in := &s3.PutObjectInput{
		Bucket:        &s.bucket,
		Key:           &name,
		ContentLength: &size,
		IfNoneMatch:   aws.String("*"),
	}
	if digest != nil {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(digest[:]))
	}
	signed, err := s.presign.PresignPutObject(ctx, in, s3.WithPresignExpires(terms.life), signedWith(terms.credentials))
	if err != nil {
		return upload.PutTarget{}, unavailable(err)
	}
	target, err := s.atEdge(signed.URL, name)
	return upload.PutTarget{URL: target, Headers: required(signed), Expires: terms.from.Add(terms.life)}, err
}

// terms are what a URL is signed with, and for how long.
type terms struct {
	credentials aws.Credentials
	from        time.Time
	life        time.Duration
}

// terms returns those of a URL that should work until an instant.
func (s *Store) terms(ctx context.Context, expires time.Time) (terms, error) {
	credentials, err := s.signing.credentials(ctx, expires)
	if err != nil {
		return terms{}, unavailable(err)
	}
	// A URL ends with the credentials that signed it. Lambda does not tell a function when they end, so a URL of a
	// long-running function may end before Expires. Clients then ask for another.
	if credentials.CanExpire && credentials.Expires.Before(expires) {
		expires = credentials.Expires
	}
	now := time.Now().Truncate(time.Second) // the time in a signature has whole seconds
	life := min(expires.Sub(now).Truncate(time.Second), maxSignedLife)
	if life <= 0 { // the SDK would replace 0 by its default
		return terms{}, unavailable(errors.New("no time is left for a signed URL"))
	}
	return terms{credentials, now, life}, nil
}

// signedWith makes a client sign with c, whose end is known, rather than ask its provider again.
func signedWith(c aws.Credentials) func(*s3.PresignOptions) {
	return s3.WithPresignClientFromClientOptions(func(o *s3.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil })
	})
}

// required returns the signed headers, which the client must send unchanged. The host is left out, because every HTTP
// client sends it.
func required(signed *v4.PresignedHTTPRequest) map[string]string {
	headers := make(map[string]string, len(signed.SignedHeader))
	for name, values := range signed.SignedHeader {
		if name = strings.ToLower(name); name != "host" {
			headers[name] = strings.Join(values, ",")
		}
	}
	return headers
}

// atEdge replaces the bucket's host by the upload host. Path and query are signed, so they stay byte for byte.
func (s *Store) atEdge(signed, name string) (string, error) {
	if s.edge == "" {
		return signed, nil
	}
	u, err := url.Parse(signed)
	if err != nil || u.Path != "/"+name {
		return "", errors.New("the S3 client does not address buckets by host, so the upload host cannot pass its URLs on")
	}
	origin := u.Scheme + "://" + u.Host
	return s.edge + strings.TrimPrefix(signed, origin), nil
}

// PutOrigin returns the origin of the URLs that Presign returns: the edge, or the host of the bucket. It is empty if the
// client has no endpoint for the bucket.
func (s *Store) PutOrigin() string {
	if s.edge != "" {
		return s.edge
	}
	at, settled := s.client.Options().EndpointResolverV2.(*place)
	if !settled {
		return ""
	}
	return at.at.URI.Scheme + "://" + at.at.URI.Host
}

// signer gets credentials that last long enough for a URL.
type signer struct {
	provider aws.CredentialsProvider

	mu        sync.Mutex
	last      aws.Credentials
	refreshed time.Time // when the credentials end that the last refresh returned
}

// credentials returns credentials that last until the given time, if the provider has such. Otherwise it returns the
// longest that there are. It refreshes each set of credentials at most once, so that a provider without longer ones is
// not asked again for every URL.
func (s *signer) credentials(ctx context.Context, until time.Time) (aws.Credentials, error) {
	if s.provider == nil {
		return aws.Credentials{}, errors.New("the S3 client has no credentials")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	got, err := s.retrieve(ctx)
	if err != nil || !got.CanExpire || !got.Expires.Before(until) || got.Expires.Equal(s.refreshed) {
		return got, err
	}
	if cache, ok := s.provider.(interface{ Invalidate() }); ok {
		cache.Invalidate()
		got, err = s.retrieve(ctx)
	}
	s.refreshed = got.Expires
	return got, err
}

// retrieve asks the provider for credentials. If that fails, it returns the previous ones as long as they are valid.
func (s *signer) retrieve(ctx context.Context) (aws.Credentials, error) {
	got, err := s.provider.Retrieve(ctx)
	if err == nil {
		s.last = got
		return got, nil
	}
	if s.last.CanExpire && !s.last.Expired() {
		return s.last, nil
	}
	return got, err
}
