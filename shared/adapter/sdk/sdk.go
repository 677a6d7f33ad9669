// Package sdk trims clients of the AWS SDK for paths on which the cost of each call matters.
package sdk

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Sender sends requests without what http.Client adds to a transport: redirects, cookies and a deadline of its own. AWS
// redirects a signed request only if the region or the bucket's owner is wrong, and the signature would not hold at the
// new place. Deadlines come from the context and from the transport.
type Sender struct{ http.RoundTripper }

// Do implements the HTTPClient of AWS clients.
func (s Sender) Do(r *http.Request) (*http.Response, error) { return s.RoundTrip(r) }

// Trim returns an entry of aws.Config.APIOptions for one client. It removes from each operation's stack what costs time
// and does not change the answer:
//
//   - ClientRequestID makes a random UUID for a header that AWS only logs. Answers carry the request id of AWS itself.
//   - UserAgent renders the same text for each call. The text of the client's first call is sent with all of them.
//   - DisableAcceptEncodingGzip keeps a transport from asking for compression. The client's transport has to do so
//     itself, by DisableCompression; a header less is sent and signed.
//
// It leaves presigned requests alone. If the SDK does not know one of these IDs any more, each call fails.
func Trim() func(*middleware.Stack) error {
	kept := new(atomic.Pointer[string])
	return func(stack *middleware.Stack) error {
		if _, sends := stack.Finalize.Get((*retry.Attempt)(nil).ID()); !sends {
			return nil
		}
		if _, err := stack.Build.Remove((*awsmiddleware.ClientRequestID)(nil).ID()); err != nil {
			return fmt.Errorf("trim the stack: %w", err)
		}
		if _, err := stack.Finalize.Remove(acceptEncoding); err != nil {
			return fmt.Errorf("trim the stack: %w", err)
		}
		own, err := stack.Build.Remove((*awsmiddleware.RequestUserAgent)(nil).ID())
		if err != nil {
			return fmt.Errorf("trim the stack: %w", err)
		}
		return stack.Build.Add(&userAgent{own, kept}, middleware.Before)
	}
}

// acceptEncoding is the ID of a middleware whose package is internal to the SDK.
const acceptEncoding = "DisableAcceptEncodingGzip"

const userAgentHeader = "User-Agent"

// userAgent renders the User-Agent of a client once. It has an ID of its own, because paginators look the SDK's
// middleware up by ID and expect its type.
type userAgent struct {
	middleware.BuildMiddleware
	kept *atomic.Pointer[string]
}

// ID implements middleware.BuildMiddleware.
func (*userAgent) ID() string { return "vitrine.userAgent" }

// HandleBuild implements middleware.BuildMiddleware. It gives each request a slice of its own, because middleware of
// the SDK writes into it.
func (u *userAgent) HandleBuild(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (
	middleware.BuildOutput, middleware.Metadata, error,
) {
	r, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return u.BuildMiddleware.HandleBuild(ctx, in, next)
	}
	if text := u.kept.Load(); text != nil {
		r.Header[userAgentHeader] = []string{*text}
		return next.HandleBuild(ctx, in)
	}
	return u.BuildMiddleware.HandleBuild(ctx, in, &keep{next, u.kept})
}

// keep stores the header that the SDK rendered.
type keep struct {
	middleware.BuildHandler
	kept *atomic.Pointer[string]
}

// HandleBuild implements middleware.BuildHandler.
func (k *keep) HandleBuild(ctx context.Context, in middleware.BuildInput) (
	middleware.BuildOutput, middleware.Metadata, error,
) {
	if r, ok := in.Request.(*smithyhttp.Request); ok {
		text := r.Header.Get(userAgentHeader)
		k.kept.Store(&text)
	}
	return k.BuildHandler.HandleBuild(ctx, in)
}
