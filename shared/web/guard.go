package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"vitrine/shared/access"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/idempotency"
)

// Call is an authenticated request: the caller, what the store had of all that the path names, and the identity of the
// command. Path parameters called artifact_id, revision_id and upload_session_id are read along.
type Call struct {
	access.Opened
	Command idempotency.Command // of routes with one

	limited func() error // waits for the limits
}

type callKey struct{}

// callOf is the call of a request that an entrance let in.
func callOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

func unlimited() error { return nil }

// touchBudget is how long an answer may wait for the stamp of its credential.
const touchBudget = 50 * time.Millisecond

// entrance stands before a handler. In order: credential (401), Idempotency-Key (400), scope (403), limits (429) unless
// a finished record answers, body (400). The limits are counted while the body is read.
type entrance struct {
	*Surface
	op      Operation
	body    bool
	guarded bool
}

func (e entrance) enter(c huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(c)
	call, ctx, err := e.open(r)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	if e.op.Page != nil && prefersHTML(r) {
		if err := e.op.Page(w, r); err != nil {
			WriteError(w, r, err)
		}
		return
	}
	defer e.touch(r.Context(), call)()
	var raw []byte
	if e.body {
		raw, err = readBody(r)
	}
	if !e.op.Beside {
		if refused := call.limited(); refused != nil {
			err = refused
		}
	}
	if err != nil {
		WriteError(w, r, err)
		return
	}
	if e.op.Command.Operation != "" {
		call.Command.Fingerprint = idempotency.FingerprintOf(e.op.Method, e.op.Path, raw)
		if call.Record.Finished(e.Now()) { // it judges the body, before anything else does
			if err := call.Record.Compare(call.Command); err != nil {
				WriteError(w, r, err)
				return
			}
		}
	}
	next(huma.WithContext(c, context.WithValue(ctx, callKey{}, call)))
}

// prefersHTML tells whether a client asks for a page: its Accept names text/html and not JSON.
func prefersHTML(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json")
}

// open checks everything that comes before the body.
func (e entrance) open(r *http.Request) (*Call, context.Context, error) {
	annotatePath(r)
	call := &Call{limited: unlimited}
	if !e.guarded {
		if e.op.Before == nil {
			return call, r.Context(), nil
		}
		ctx, err := e.op.Before(r)
		return call, ctx, err
	}
	return call, r.Context(), e.authenticate(r, call)
}

// authenticate lets a caller with a credential in, and starts counting.
func (e entrance) authenticate(r *http.Request, call *Call) error {
	bearer, err := bearerOf(r)
	if err != nil {
		return err
	}
	wants, keyed := e.wants(r)
	if call.Opened, err = e.Authenticate(r.Context(), bearer, wants, RequestID(r.Context())); err != nil {
		return err
	}
	Annotate(r.Context(), slog.String("workspace", string(call.Actor.Workspace.ID)), slog.String("key", string(call.Actor.Key.Public)))
	if keyed != nil {
		return keyed
	}
	if e.op.Scope != "" {
		if err := call.Actor.Require(e.op.Scope); err != nil {
			return err
		}
	}
	call.Command.Key = wants.Command(call.Actor.Subject())
	if !e.op.Unlimited && !call.Record.Finished(e.Now()) {
		call.limited = e.limit(r.Context(), call)
	}
	return nil
}

// limit starts counting; the result waits for it.
func (e entrance) limit(ctx context.Context, call *Call) func() error {
	done := make(chan error, 1)
	go func() { done <- e.Limiter.Actor(ctx, call.Actor.Workspace.ID, call.Actor.Subject()) }()
	return sync.OnceValue(func() error { return <-done })
}

// touch stamps the credential beside the request; the result waits for that, but not long.
func (e entrance) touch(ctx context.Context, call *Call) (wait func()) {
	if !e.guarded || e.Touch == nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, touchBudget)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Touch(ctx, call.Actor)
	}()
	return func() {
		select {
		case <-done:
		case <-ctx.Done():
		}
		cancel()
	}
}

// wants names what the request is about. The error is of an Idempotency-Key that is missing or malformed: nothing is
// looked up for it, and it is told to authenticated callers only.
func (e entrance) wants(r *http.Request) (access.Wants, error) {
	w := access.Wants{
		Artifact: id.Artifact(r.PathValue("artifact_id")),
		Revision: id.Revision(r.PathValue("revision_id")),
		Session:  id.Session(r.PathValue("upload_session_id")),
	}
	c := e.op.Command
	if c.Operation == "" {
		return w, nil
	}
	target := ""
	if c.Target != "" {
		target = r.PathValue(c.Target)
	}
	sent := r.Header.Values("Idempotency-Key")
	client := strings.Join(sent, ",") // several are malformed
	if len(sent) == 0 && c.Derived != "" {
		client = c.Derived + target
	}
	if err := idempotency.CheckClient(client); err != nil {
		if len(sent) == 0 && c.Derived != "" {
			err = nil // the path names nothing that could exist
		}
		return w, err
	}
	w.Operation, w.Target, w.Client = c.Operation, target, client
	return w, nil
}

// annotatePath puts the ids of the path into the log line, where they are ids.
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

// bearerOf takes the credential out of a request. A credential that arrives in any other way than one Authorization
// header is refused with invalid_auth, whether it is a good one or not.
func bearerOf(r *http.Request) (string, error) {
	sent := r.Header.Values("Authorization")
	if len(sent) > 1 || len(sent) == 1 && strings.Contains(sent[0], ",") {
		return "", fault.New(fault.InvalidAuth, "send exactly one header Authorization: Bearer <key>")
	}
	if r.URL.RawQuery != "" {
		if q := r.URL.Query(); q.Has("api_key") || q.Has("access_token") {
			return "", fault.New(fault.InvalidAuth, "a credential in the query is not read; send the header Authorization: Bearer <key>")
		}
	}
	if len(sent) == 1 {
		const scheme = "bearer"
		if s := sent[0]; len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) && (s[len(scheme)] == ' ' || s[len(scheme)] == '\t') {
			if bearer := s[len(scheme)+1:]; bearer != "" && !strings.ContainsAny(bearer, " \t\r\n\v\f") {
				return bearer, nil
			}
		}
	}
	return "", fault.New(fault.NotAuthenticated, "send a live API key in the header Authorization: Bearer <key>")
}

// readBody takes the whole body, JSON of at most limits.JSONBody bytes, and gives it back to the request.
func readBody(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, bodyMost+1))
	switch {
	case len(raw) > bodyMost:
		return nil, fault.New(fault.InvalidRequest, "the body is larger than %d bytes", bodyMost)
	case err != nil:
		return nil, fault.Wrap(fault.InvalidRequest, err, "the body did not arrive as a whole; send the request again")
	}
	raw = bytes.TrimSpace(raw)
	if err := check(raw); err != nil {
		return nil, fault.New(fault.InvalidRequest, "body: %s", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	r.Header.Del("Content-Type") // JSON, whatever it says
	return raw, nil
}
