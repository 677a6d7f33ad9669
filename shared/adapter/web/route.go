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

// Operation declares a route: its path, its guards and its documentation.
type Operation struct {
	ID, Method, Path string
	Summary          string
	Status           int          // of a success; zero: 200
	Security         Scheme       // in the document; APIKey on guarded routes unless another is given
	Errors           []fault.Code // those that the guards and the reading of the request do not add by themselves
	CacheControl     string       // of a success; empty: no-store
	AnyOrigin        bool         // scripts of every origin may read the JSON, because it does not depend on the caller
	Answers          []Answer     // successes of a plain route, which have no other documentation
	ClientAuth       bool         // the route takes the credentials of an OAuth client, so that it may answer 401
	Hidden           bool         // the document does not show the route, because it is another spelling of one that it shows

	// Page answers instead, on public routes, when a client wants PageType and not JSON.
	Page func(http.ResponseWriter, *http.Request) error
	// PageType is the media type that Page serves or refuses; empty: text/html, which the document then names.
	PageType string
	// Before runs before the body is read, on public routes. Its refusal takes precedence over
	// every other, and its context is passed on to the handler.
	Before func(*http.Request) (context.Context, error)

	// Scope is what a guarded route requires of the credential; empty: any credential.
	Scope credential.Scope
	// Command makes a guarded route repeatable; its zero value requires no Idempotency-Key.
	Command Command
	// Deleting lets members in whose workspace is being deleted.
	Deleting bool
	// Unlimited routes do not count against the credential's and the workspace's rate.
	Unlimited bool
	// ConcurrentLimits lets the handler run while the limits are counted; a refusal replaces its
	// answer. It is only for handlers that change no state before Request.WaitForLimits has
	// returned nil.
	ConcurrentLimits bool
}

// Command says how repetitions of a route are recognised.
type Command struct {
	Operation idempotency.Operation
	Target    string // the path parameter of its target; empty: none
	// Derived, followed by the target, replaces a missing Idempotency-Key; empty: the header is
	// required.
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

// answer is the output of a handler in the form that huma wants.
type answer[O any] struct{ Body O }

// Guarded is a route for callers with an API key. I holds the parameters and, as Body, the JSON that it takes; O is the
// JSON that it answers.
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
			return &answer[O]{out}, AsUnavailable(err)
		})
	}}
}

// Public is a route without credential.
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

// Plain is a route whose handler writes by itself, or returns the failure to be written. I
// documents its parameters, which are not checked.
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
			delete(declared.Responses, "200") // huma adds one where the document has no success that it knows
		}
	}}
}

// Document is a route that answers the OpenAPI document of the host, on hosts whose document lists that too.
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

// checksParameters reports whether I has parameters that are refused before the handler runs: those
// that are not strings. Handlers judge strings, required ones too, because a missing or empty one
// is treated like any other unknown one.
func checksParameters[I any]() bool {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[I]()) {
		if (f.Tag.Get("query") != "" || f.Tag.Get("header") != "") && f.Type.Kind() != reflect.String {
			return true
		}
	}
	return false
}
