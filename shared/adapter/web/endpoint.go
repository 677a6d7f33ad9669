package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Request is an authenticated request: the caller, the stored state of what the path names, and the identity of the
// command. The state is read for the path parameters artifact_id, revision_id and upload_session_id.
type Request struct {
	access.Authenticated
	Command idempotency.Command // set on routes that have one

	limited func() error // waits for the limits

	asked  *http.Request
	header http.Header // of the answer
	etag   string      // of a success; empty: none
}

type requestKey struct{}

// requestOf returns the Request in a context that an endpoint made.
func requestOf(ctx context.Context) *Request {
	request, _ := ctx.Value(requestKey{}).(*Request)
	return request
}

func unlimited() error { return nil }

// WaitForLimits waits until the limits are counted and returns their refusal. Handlers that run while they are counted
// must call it before they change state.
func (r *Request) WaitForLimits() error { return r.limited() }

// touchBudget is how long an answer may wait until the use of its credential is recorded.
const touchBudget = 50 * time.Millisecond

// authScheme says how a route authenticates its callers.
type authScheme struct {
	authenticate func(ctx context.Context, bearer string, wants access.Request, requestID string) (access.Authenticated, error)
	asks         string        // what a caller without a credential is told to send
	hidden       bool          // refusals do not reveal that the route exists
	timeout      time.Duration // time limit of the route; zero: none
}

// refusal returns the error for a caller who is not authenticated. On hidden routes that is not_found, except that an
// unavailable store is reported as such.
func (s *authScheme) refusal(err error) error {
	if s.hidden && fault.CodeOf(err).Kind() != fault.KindUnavailable {
		return fault.NewCode(fault.NotFound)
	}
	return err
}

// endpoint is an operation with the checks that run before its handler, in this order: credential (401),
// Idempotency-Key (400), scope (403), limits (429) unless a finished record answers, body (400). The limits are counted
// while the body is read.
type endpoint struct {
	*Server
	op     Operation
	body   bool
	scheme *authScheme // nil: the route is public
}

func (e endpoint) enter(c huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(c)
	ctx, cancel := e.deadline(r.Context())
	defer cancel()
	request, ctx, err := e.open(ctx, r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	request.asked, request.header = r, w.Header()
	if e.op.Page != nil && Accepts(r, cmp.Or(e.op.PageType, "text/html"), "application/json") {
		if err := e.op.Page(w, r); err != nil {
			writeError(w, r, err)
		}
		return
	}
	defer e.touch(ctx, request)()
	var raw []byte
	if e.body {
		raw, err = readBody(r)
	}
	// With concurrent limits, the handler waits for them. A bad body never reaches the handler, so they are awaited
	// here. Their refusal takes precedence over that of the body.
	if !e.op.ConcurrentLimits || err != nil {
		if refused := request.limited(); refused != nil {
			err = refused
		}
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	if e.op.Command.Operation != "" {
		request.Command.Fingerprint = idempotency.FingerprintOf(e.op.Method, e.op.Path, raw)
		if request.Record.Finished(e.Now()) { // a repetition with another body is refused before any other check of the body
			if err := request.Record.Compare(request.Command); err != nil {
				writeError(w, r, err)
				return
			}
		}
	}
	next(huma.WithContext(c, context.WithValue(ctx, requestKey{}, request)))
}

// Accepts reports whether the Accept header names the media type wanted and not other.
func Accepts(r *http.Request, wanted, other string) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, wanted) && !strings.Contains(accept, other)
}

// deadline bounds the context of a request, if its route has a time limit.
func (e endpoint) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.scheme == nil || e.scheme.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.scheme.timeout)
}

// open runs the checks that precede reading the body.
func (e endpoint) open(ctx context.Context, r *http.Request) (*Request, context.Context, error) {
	annotatePath(r)
	request := &Request{limited: unlimited}
	if e.scheme == nil {
		if e.op.Before == nil {
			return request, ctx, nil
		}
		ctx, err := e.op.Before(r)
		return request, ctx, err
	}
	return request, ctx, e.authenticate(ctx, r, request)
}

// authenticate checks the caller's credential and starts counting the limits.
func (e endpoint) authenticate(ctx context.Context, r *http.Request, request *Request) error {
	bearer, err := bearerOf(r, e.scheme.asks)
	if err != nil {
		return e.scheme.refusal(err)
	}
	wants, keyed := e.accessRequest(r)
	if request.Authenticated, err = e.scheme.authenticate(ctx, bearer, wants, RequestID(ctx)); err != nil {
		return e.scheme.refusal(AsUnavailable(err))
	}
	Annotate(ctx, callerOf(request.Actor)...)
	if keyed != nil {
		return keyed
	}
	if e.op.Scope != "" {
		if err := request.Actor.Require(e.op.Scope); err != nil {
			return err
		}
	}
	request.Command.Key = wants.Command(request.Actor.Subject())
	if !e.op.Unlimited && !request.Record.Finished(e.Now()) {
		request.limited = e.limit(ctx, request)
	}
	return nil
}

// callerOf returns the log fields that identify the caller.
func callerOf(a credential.Actor) []slog.Attr {
	who := slog.String("key", string(a.Key.Public))
	if a.Member != "" {
		who = slog.String("member", string(a.Member))
	}
	return []slog.Attr{slog.String("workspace", string(a.Workspace.ID)), who}
}

// AsUnavailable converts an exceeded time limit to an unavailable error, unless err already is one.
func AsUnavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && fault.CodeOf(err) == fault.Internal {
		return fault.Wrap(fault.DatabaseUnavailable, err,
			"a part of this service does not answer; repeat the request in a moment")
	}
	return err
}

// limit starts counting. Calling the result waits for the count.
func (e endpoint) limit(ctx context.Context, request *Request) func() error {
	return async.Start(func() error {
		return e.Limiter.Actor(ctx, request.Actor.Workspace.ID, request.Actor.Subject())
	})
}

// touch records the use of an API key concurrently. Calling the result waits for that, at most touchBudget.
func (e endpoint) touch(ctx context.Context, request *Request) (wait func()) {
	if e.scheme == nil || e.Touch == nil || request.Actor.Member != "" {
		return func() {}
	}
	limited, cancel := context.WithTimeout(ctx, touchBudget)
	touched := async.Go(func() (struct{}, error) { return struct{}{}, e.Touch(limited, request.Actor) })
	return func() {
		defer cancel()
		select {
		case <-touched.Done():
			if _, err := touched.Wait(); async.StackOf(err) != nil { // the answer is already sent, so a panic is only logged
				Failed(ctx, fault.Internal, err)
			}
		case <-limited.Done():
		}
	}
}

// accessRequest returns what the request is about. It returns an error for a missing or malformed Idempotency-Key. Such
// a request reads no record, and only authenticated callers see the error.
func (e endpoint) accessRequest(r *http.Request) (access.Request, error) {
	wants := access.Request{
		Artifact: id.Artifact(r.PathValue("artifact_id")),
		Revision: id.Revision(r.PathValue("revision_id")),
		Session:  id.Session(r.PathValue("upload_session_id")),
		Feedback: e.op.Feedback && (e.op.FeedbackQuery == "" || r.URL.Query().Get(e.op.FeedbackQuery) == "1"),
		Deleting: e.op.Deleting,
	}
	c := e.op.Command
	if c.Operation == "" {
		return wants, nil
	}
	target := ""
	if c.Target != "" {
		target = r.PathValue(c.Target)
	}
	sent := r.Header.Values("Idempotency-Key")
	client := strings.Join(sent, ",") // several keys become one that is malformed
	if len(sent) == 0 && c.Derived != "" {
		client = c.Derived + target
	}
	if err := idempotency.CheckClient(client); err != nil {
		if len(sent) == 0 && c.Derived != "" {
			err = nil // the key is malformed because the path is, so no item exists
		}
		return wants, err
	}
	wants.Operation = c.Operation
	wants.Target = target
	wants.Client = client
	return wants, nil
}

// annotatePath adds those IDs in the path that are well-formed to the log line.
func annotatePath(r *http.Request) {
	if a := id.Artifact(r.PathValue("artifact_id")); a != "" {
		if _, err := a.Bits(); err == nil {
			Annotate(r.Context(), slog.String("artifact", string(a)))
		}
	}
	if s := id.Session(r.PathValue("upload_session_id")); s.Valid() {
		Annotate(r.Context(), slog.String("session", string(s)))
	}
}

// bearerOf returns the credential of a request. It accepts exactly one Authorization header. Any other form is refused
// with invalid_auth, even if the credential itself is valid.
func bearerOf(r *http.Request, asks string) (string, error) {
	sent := r.Header.Values("Authorization")
	if len(sent) > 1 || len(sent) == 1 && strings.Contains(sent[0], ",") {
		return "", fault.New(fault.InvalidAuth, "send exactly one header Authorization: Bearer <credential>")
	}
	if r.URL.RawQuery != "" {
		if q := r.URL.Query(); q.Has("api_key") || q.Has("access_token") {
			return "", fault.New(fault.InvalidAuth,
				"a credential in the query is not read; send the header Authorization: Bearer <credential>")
		}
	}
	if len(sent) == 1 {
		const scheme = "bearer"
		if s := sent[0]; len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) &&
			(s[len(scheme)] == ' ' || s[len(scheme)] == '\t') {
			if bearer := s[len(scheme)+1:]; bearer != "" && !strings.ContainsAny(bearer, " \t\r\n\v\f") {
				return bearer, nil
			}
		}
	}
	return "", fault.New(fault.NotAuthenticated, "send %s in the header Authorization: Bearer <credential>", asks)
}

// readBody reads the whole body, which must be JSON of at most limits.JSONBody bytes, and replaces r.Body by what it
// read.
func readBody(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case len(raw) > maxBody:
		return nil, fault.New(fault.InvalidRequest, "the body is larger than %d bytes", maxBody)
	case err != nil:
		return nil, fault.Wrap(fault.InvalidRequest, err, "the body did not arrive as a whole; send the request again")
	}
	raw = bytes.TrimSpace(raw)
	if err := check(raw); err != nil {
		return nil, fault.New(fault.InvalidRequest, "body: %s", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	r.Header.Del("Content-Type") // the body is JSON, regardless of the type that the client declared
	return raw, nil
}
