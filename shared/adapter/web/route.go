package web

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// Operation declares a route: its path, the checks before its handler, and its documentation.
type Operation struct {
	ID, Method, Path string
	Summary          string
	Status           int          // status of a success; zero: 200
	Security         Scheme       // as documented; on guarded routes, empty means APIKey
	Errors           []fault.Code // errors in addition to those of the checks and of reading the request
	CacheControl     string       // Cache-Control of a success; empty: no-store
	AnyOrigin        bool         // scripts of every origin may read the JSON, because it does not depend on the caller
	Answers          []Answer     // successes of a plain route, which are not documented otherwise
	ClientAuth       bool         // the route takes credentials of an OAuth client, so it may answer 401
	Hidden           bool         // not in the document, because it is another spelling of a documented route

	// Page answers on public routes instead of the handler, if the client accepts PageType and not JSON.
	Page func(http.ResponseWriter, *http.Request) error
	// PageType is the media type of Page. If it is empty, that is text/html, which the document then names.
	PageType string
	// Before runs on public routes before the body is read. Its refusal takes precedence over every other. The handler
	// gets the context that it returns.
	Before func(*http.Request) (context.Context, error)

	// Scope is the scope that a guarded route requires; empty: none.
	Scope credential.Scope
	// Command makes a guarded route repeatable. The zero value requires no Idempotency-Key.
	Command Command
	// Deleting admits members whose workspace is being deleted.
	Deleting bool
	// Feedback reads the counts of the threads about the artifact of the path with the credential.
	Feedback bool
	// FeedbackQuery names the query parameter that asks for these counts with the value 1; empty: each request does.
	FeedbackQuery string
	// Unlimited exempts the route from the rate limits of credential and workspace.
	Unlimited bool
	// ConcurrentLimits runs the handler while the limits are counted. A refusal replaces its answer. The handler must
	// not change state before Request.WaitForLimits has returned nil.
	ConcurrentLimits bool
}

// Command says how a repetition of a request is recognised.
type Command struct {
	Operation idempotency.Operation
	Target    string // path parameter that names the target; empty: none
	// Derived replaces a missing Idempotency-Key, followed by the target. If it is empty, the header is required.
	Derived string
}

// Answer documents a success of a plain route.
type Answer struct {
	Status      int
	Description string
	MediaType   string // empty: no body
	Object      bool   // the body is a JSON object
}

// Route is a registered operation of a host.
type Route struct {
	register func(*Server, huma.API)
}

// answer is the form that huma requires of a handler's output.
type answer[O any] struct{ Body O }

// Guarded returns a route for callers with an API key. I holds the parameters and, as Body, the JSON that the route
// takes. O is the JSON that it answers.
func Guarded[I, O any](op Operation, handle func(context.Context, *Request, *I) (O, error)) Route {
	if op.Security == "" {
		op.Security = APIKey
	}
	return guarded(op, func(s *Server) *authScheme {
		return &authScheme{authenticate: s.Authenticate, asks: "a live API key"}
	}, handle)
}

func guarded[I, O any](
	op Operation,
	at func(*Server) *authScheme,
	handle func(context.Context, *Request, *I) (O, error),
) Route {
	return Route{func(s *Server, api huma.API) {
		door := at(s)
		if door.authenticate == nil || s.Limiter == nil || s.Now == nil {
			panic("web: " + op.ID + " needs its Authenticate, Limiter and Now")
		}
		e := endpoint{
			Server: s,
			op:     op,
			body:   takesBody[I](),
			scheme: door,
		}
		huma.Register(api, e.operation(api, checksParameters[I]()), func(ctx context.Context, in *I) (*answer[O], error) {
			request := requestOf(ctx)
			out, err := handle(ctx, request, in)
			if refused := request.limited(); refused != nil {
				return nil, refused
			}
			if err == nil && request.etag != "" {
				request.header.Set("ETag", request.etag)
			}
			return &answer[O]{out}, AsUnavailable(err)
		})
	}}
}

// Public returns a route that needs no credential.
func Public[I, O any](op Operation, handle func(context.Context, *I) (O, error)) Route {
	return Route{func(s *Server, api huma.API) {
		e := endpoint{Server: s, op: op, body: takesBody[I]()}
		declared := e.operation(api, checksParameters[I]())
		huma.Register(api, declared, func(ctx context.Context, in *I) (*answer[O], error) {
			out, err := handle(ctx, in)
			return &answer[O]{out}, err
		})
		if op.Page != nil && op.PageType == "" {
			declared.Responses["200"].Content["text/html"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		}
	}}
}

// Plain returns a route whose handler writes the answer itself, or returns the failure to be written. I documents its
// parameters, which are not checked.
func Plain[I any](op Operation, handle func(http.ResponseWriter, *http.Request) error) Route {
	return Route{func(s *Server, api huma.API) {
		declared := endpoint{Server: s, op: op}.operation(api, false)
		huma.Register(api, declared, func(context.Context, *I) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(c huma.Context) {
				r, w := humago.Unwrap(c)
				if err := handle(w, r); err != nil {
					writeError(w, r, err)
				}
			}}, nil
		})
		if !slices.ContainsFunc(op.Answers, func(a Answer) bool { return a.Status == http.StatusOK }) {
			delete(declared.Responses, "200") // huma adds this one if the document has no success that it knows
		}
	}}
}

// Document returns a route that answers the OpenAPI document of the host. It is for hosts whose document lists that
// route too.
func Document(op Operation) Route {
	return Route{func(s *Server, api huma.API) {
		text := document(api)
		Plain[struct{}](op, func(w http.ResponseWriter, r *http.Request) error {
			text(w, r)
			return nil
		}).register(s, api)
	}}
}

func takesBody[I any]() bool {
	_, ok := reflect.TypeFor[I]().FieldByName("Body")
	return ok
}

// checksParameters reports whether huma checks parameters of I before the handler runs. It does not check strings, not
// even required ones. Handlers do, because they treat a missing or empty string like any unknown one.
func checksParameters[I any]() bool {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[I]()) {
		if (f.Tag.Get("query") != "" || f.Tag.Get("header") != "") && f.Type.Kind() != reflect.String {
			return true
		}
	}
	return false
}
