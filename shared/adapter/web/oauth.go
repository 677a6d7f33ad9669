package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Empty is the output of a route whose success has no body.
type Empty struct{}

// OAuthForm returns a route of the authorization server that takes a form and answers JSON. Its refusals follow RFC
// 6749. The parameters only document the form.
func OAuthForm[O any](op Operation, parameters []string, handle func(*http.Request, Form) (O, error)) Route {
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, p := range parameters {
		schema.Properties[p] = &huma.Schema{Type: huma.TypeString}
	}
	return oauthRoute(op, func(huma.Registry) *huma.RequestBody {
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{formType: {Schema: schema}}}
	}, oauthForm, handle)
}

// OAuthJSON is OAuthForm with a JSON body. Unknown members are ignored.
func OAuthJSON[I, O any](op Operation, handle func(*http.Request, I) (O, error)) Route {
	return oauthRoute(op, func(schemas huma.Registry) *huma.RequestBody {
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: schemas.Schema(reflect.TypeFor[I](), true, reflect.TypeFor[I]().Name())},
		}}
	}, readJSON[I], handle)
}

// SecurityEvents returns a route that takes security event tokens of providers (RFC 8935). take calls read for the
// token, once it knows that tokens are accepted at all. The answer to a token is 202 without a body.
func SecurityEvents(op Operation, take func(r *http.Request, read func() (string, error)) error) Route {
	op.Status = http.StatusAccepted
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	route := oauthRoute(op, func(huma.Registry) *huma.RequestBody {
		return &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{eventType: text},
		}
	}, func(*http.Request) (struct{}, error) {
		return struct{}{}, nil
	}, func(r *http.Request, _ struct{}) (Empty, error) {
		return Empty{}, eventRefusal(take(r, func() (string, error) { return readEvent(r) }))
	})
	return Answering[contract.EventError](route, op, http.StatusBadRequest)
}

const eventType = "application/secevent+jwt"

// readEvent reads the token, which is the whole body.
func readEvent(r *http.Request) (string, error) {
	switch media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.ToLower(strings.TrimSpace(media)) {
	case eventType, "application/jwt", "":
	default:
		return "", fault.NewOAuth(fault.OAuthInvalidRequest, "send the token as %s", eventType)
	}
	raw, err := readShort(r)
	if err != nil {
		return "", unreadable(err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// eventRefusal gives a refusal of a token the body of RFC 8935, section 2.3. It does not change other failures.
func eventRefusal(err error) error {
	if err == nil {
		return nil
	}
	refused := fault.OAuthErrorOf(err)
	status := oauthStatus(refused)
	if status != http.StatusBadRequest {
		return err
	}
	return &OAuthAnswer{
		Status: status,
		Body:   contract.EventError{Err: string(refused.Code), Description: refused.Description},
		Err:    err,
	}
}

// OAuthAnswer is a failure of the authorization server whose answer has more than error and error_description.
type OAuthAnswer struct {
	Status    int
	Challenge string // WWW-Authenticate; empty: none
	Body      any
	Err       error
}

// Error implements error.
func (a *OAuthAnswer) Error() string { return a.Err.Error() }

// Unwrap returns the failure.
func (a *OAuthAnswer) Unwrap() error { return a.Err }

// Answering documents that a route of the authorization server may also answer with a status and a body of type T.
func Answering[T any](route Route, op Operation, status int) Route {
	return answering(route, op, status, schemaOf[T])
}

// AnsweringEither documents that it may also answer with a status and a body of type A or B.
func AnsweringEither[A, B any](route Route, op Operation, status int) Route {
	return answering(route, op, status, func(all huma.Registry) *huma.Schema {
		return &huma.Schema{OneOf: []*huma.Schema{schemaOf[A](all), schemaOf[B](all)}}
	})
}

func schemaOf[T any](all huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	return all.Schema(t, true, t.Name())
}

func answering(route Route, op Operation, status int, body func(huma.Registry) *huma.Schema) Route {
	return Route{func(s *Server, api huma.API) {
		route.register(s, api)
		api.OpenAPI().Paths[op.Path].Post.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/json": {Schema: body(api.OpenAPI().Components.Schemas)}},
		}
	}}
}

func oauthRoute[I, O any](
	op Operation,
	body func(huma.Registry) *huma.RequestBody,
	read func(*http.Request) (I, error),
	handle func(*http.Request, I) (O, error),
) Route {
	return Route{func(s *Server, api huma.API) {
		declared := endpoint{Server: s, op: op}.operation(api, false)
		schemas := api.OpenAPI().Components.Schemas
		declared.SkipValidateBody = true
		declared.Responses = oauthResponses[O](schemas, op)
		huma.Register(api, declared, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(c huma.Context) {
				r, w := humago.Unwrap(c)
				ctx, cancel := context.WithTimeout(r.Context(), limits.IdentityAnswer)
				defer cancel()
				r = r.WithContext(ctx)
				in, err := read(r)
				var out O
				if err == nil {
					out, err = handle(r, in)
				}
				if err != nil {
					writeRefusal(w, r, err)
					return
				}
				writeOAuth(w, op.Status, out)
			}}, nil
		})
		// Only the document has the body, because huma would otherwise read it first.
		api.OpenAPI().Paths[op.Path].Post.RequestBody = body(schemas)
	}}
}

func oauthResponses[O any](schemas huma.Registry, op Operation) map[string]*huma.Response {
	success := &huma.Response{Description: "OK"}
	if reflect.TypeFor[O]() != reflect.TypeFor[Empty]() {
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[O](), true,
			reflect.TypeFor[O]().Name())}}
	}
	refusal := &huma.MediaType{Schema: schemas.Schema(reflect.TypeFor[contract.OAuthError](), true, "OAuthError")}
	out := map[string]*huma.Response{strconv.Itoa(max(op.Status, http.StatusOK)): success}
	statuses := []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	if op.ClientAuth {
		statuses = append(statuses, http.StatusUnauthorized)
	}
	for _, status := range statuses {
		out[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/json": refusal},
		}
	}
	out[strconv.Itoa(http.StatusInternalServerError)] = refusalResponse(schemas, []fault.Code{fault.Internal})
	return out
}

func oauthForm(r *http.Request) (Form, error) {
	form, err := ReadForm(r)
	if errors.Is(err, errResources) {
		return nil, fault.NewOAuth(fault.OAuthInvalidTarget, "%s", err)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return form, nil
}

// unreadable returns the refusal of a body that could not be read.
func unreadable(err error) error {
	return fault.NewOAuth(fault.OAuthInvalidRequest, "%s", err).WithCause(errors.Unwrap(err))
}

func readJSON[I any](r *http.Request) (in I, err error) {
	raw, err := readShort(r)
	if err != nil {
		return in, unreadable(err)
	}
	if err := check(raw); err != nil {
		return in, fault.NewOAuth(fault.OAuthInvalidRequest, "body: %s", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil || !strings.HasPrefix(strings.TrimSpace(string(raw)), "{") {
		return in, fault.NewOAuth(fault.OAuthInvalidRequest, "send one JSON object whose members have the documented types")
	}
	return in, nil
}

// writeRefusal answers a failure of the authorization server. No part of the answer may have been
// written.
func writeRefusal(w http.ResponseWriter, r *http.Request, err error) {
	refused := fault.OAuthErrorOf(err)
	if refused.Code == fault.OAuthTemporarilyUnavailable {
		requestLogOf(r.Context()).unserved(err)
	} else {
		requestLogOf(r.Context()).failed(logCode(refused.Code), err)
	}
	RetryAfter(w.Header(), refused.RetryAfter)
	if a, own := errors.AsType[*OAuthAnswer](err); own {
		if a.Challenge != "" {
			w.Header().Set("WWW-Authenticate", a.Challenge)
		}
		writeOAuth(w, a.Status, a.Body)
		return
	}
	status := oauthStatus(refused)
	if refused.Code == fault.OAuthInvalidClient && len(r.Header.Values("Authorization")) > 0 { // RFC 6749, section 5.2
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="vitrine"`)
	}
	writeOAuth(w, status, contract.OAuthError{Error: string(refused.Code), Description: refused.Description})
}

// logCode returns the closest code of the contract. It decides the level of the log line.
func logCode(code fault.OAuthCode) fault.Code {
	if code == fault.OAuthServerError {
		return fault.DatabaseUnavailable
	}
	return fault.InvalidRequest
}

func oauthStatus(r *fault.OAuthError) int {
	switch {
	case r.Limited:
		return http.StatusTooManyRequests
	case slices.Contains([]fault.OAuthCode{fault.OAuthServerError, fault.OAuthTemporarilyUnavailable}, r.Code):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// writeOAuth writes JSON that no cache keeps (RFC 6749, section 5.1). Scripts of any origin may read it, because no
// part of it depends on a cookie.
func writeOAuth(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Cache-Control", noStore)
	h.Set("Pragma", "no-cache")
	h.Set("Access-Control-Allow-Origin", "*")
	if _, none := v.(Empty); none {
		h.Set("Content-Length", "0")
		w.WriteHeader(max(status, http.StatusOK))
		return
	}
	body, err := contract.Encode(v)
	if err != nil {
		panic(err) // shapes of the contract always marshal
	}
	h.Set("Content-Type", jsonType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(max(status, http.StatusOK))
	w.Write(body) // a failure means that the client left
}
