package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// Scheme is the name that the document has for a kind of authentication.
type Scheme string

// The schemes of the contract.
const (
	APIKey       Scheme = "ApiKeyBearer"
	Identity     Scheme = "WorkOsBearer"
	MCPToken     Scheme = "McpOAuthBearer"
	ViewToken    Scheme = "SignedAgentViewToken"
	LinkSecret   Scheme = "SignedAccessLinkRequest"
	ContentToken Scheme = "SignedContentToken"
	// StripeSignature is the signature of an event of the payment provider.
	StripeSignature Scheme = "StripeSignature"
)

func (s Scheme) definition() *huma.SecurityScheme {
	if s == StripeSignature {
		return &huma.SecurityScheme{Type: "apiKey", In: "header", Name: "Stripe-Signature"}
	}
	return &huma.SecurityScheme{Type: "http", Scheme: "bearer"}
}

const (
	schemaPrefix = "#/components/schemas/"
	cacheControl = "cache-control" // metadata of an operation
	anyOrigin    = "any-origin"    // metadata of an operation
)

func newAPI(mux humago.Mux, s *Server) huma.API {
	cfg := huma.DefaultConfig(s.Title, contract.Version)
	cfg.OpenAPIPath = ""
	cfg.DocsPath = ""
	cfg.SchemasPath = ""
	cfg.CreateHooks = nil
	cfg.AllowAdditionalPropertiesByDefault = true // shapes that are strict override it
	cfg.Formats = map[string]huma.Format{"application/json": format}
	cfg.Transformers = []huma.Transformer{contractHeaders}
	cfg.Servers = []*huma.Server{{URL: s.Origin}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{}
	cfg.OnAddOperation = []huma.AddOpFunc{commonParameters}
	return humago.New(mux, cfg)
}

// contractHeaders sets the headers of every JSON answer.
func contractHeaders(c huma.Context, status string, v any) (any, error) {
	cache, ok := c.Operation().Metadata[cacheControl].(string)
	if !ok || status[0] != '2' {
		cache = noStore
	}
	if c.Operation().Metadata[anyOrigin] != nil {
		c.SetHeader("Access-Control-Allow-Origin", "*")
	}
	if status != "304" {
		c.SetHeader("Content-Type", jsonType)
	}
	c.SetHeader("Cache-Control", cache)
	return v, nil
}

// refuseHuma converts huma's findings and the errors of handlers to envelopes. A refusal of the limits that is still
// pending takes precedence.
func refuseHuma(c huma.Context, status int, msg string, errs ...error) huma.StatusError {
	r, w := humago.Unwrap(c)
	err := errors.Join(errs...)
	if f := (*fault.Fault)(nil); status < http.StatusInternalServerError && !errors.As(err, &f) {
		err = invalid(msg, errs)
	}
	if request := requestOf(c.Context()); request != nil {
		if refused := request.limited(); refused != nil {
			err = refused
		}
	}
	return refuse(r.Context(), w.Header(), err)
}

// operation returns the operation as huma registers and documents it.
func (e endpoint) operation(api huma.API, parameters bool) huma.Operation {
	op := huma.Operation{
		OperationID:        e.op.ID,
		Method:             e.op.Method,
		Path:               e.op.Path,
		Summary:            e.op.Summary,
		DefaultStatus:      e.op.Status,
		MaxBodyBytes:       -1,
		BodyReadTimeout:    -1, // readBody has already read the body
		Middlewares:        huma.Middlewares{e.enter},
		Metadata:           map[string]any{},
		Responses:          map[string]*huma.Response{},
		Security:           []map[string][]string{},
		SkipValidateParams: !parameters,
		Hidden:             e.op.Hidden,
	}
	if e.op.CacheControl != "" {
		op.Metadata[cacheControl] = e.op.CacheControl
	}
	if e.op.AnyOrigin {
		op.Metadata[anyOrigin] = true
	}
	if s := e.op.Security; s != "" {
		op.Security = append(op.Security, map[string][]string{string(s): {}})
		declareScheme(api.OpenAPI(), s)
	}
	if c := e.op.Command; c.Operation != "" {
		op.Parameters = append(op.Parameters, idempotencyKey(c.Derived == ""))
	}
	for _, a := range e.op.Answers {
		op.Responses[strconv.Itoa(a.Status)] = a.response()
	}
	for status, codes := range byStatus(e.errors(parameters)) {
		op.Responses[strconv.Itoa(status)] = refusalResponse(api.OpenAPI().Components.Schemas, codes)
	}
	return op
}

// declareScheme adds a scheme to the document once. It also makes it one of the alternatives that the document as a
// whole requires.
func declareScheme(doc *huma.OpenAPI, s Scheme) {
	if _, known := doc.Components.SecuritySchemes[string(s)]; !known {
		doc.Components.SecuritySchemes[string(s)] = s.definition()
		doc.Security = append(doc.Security, map[string][]string{string(s): {}})
	}
}

// errors lists every code that the route may answer.
func (e endpoint) errors(parameters bool) []fault.Code {
	codes := append([]fault.Code{fault.Internal}, e.op.Errors...)
	if e.body || parameters {
		codes = append(codes, fault.InvalidRequest)
	}
	if e.scheme == nil {
		return codes
	}
	if e.scheme.hidden {
		codes = append(codes, fault.NotFound, fault.DatabaseUnavailable)
	} else {
		codes = append(codes, fault.NotAuthenticated, fault.InvalidAuth, fault.DatabaseUnavailable)
	}
	if e.op.Scope != "" {
		codes = append(codes, fault.Forbidden)
	}
	if e.op.Command.Operation != "" {
		codes = append(codes, fault.InvalidIdempotencyKey, fault.IdempotencyInFlight)
	}
	if !e.op.Unlimited {
		codes = append(codes, fault.RateLimitedActor, fault.RateLimitedWorkspace)
	}
	return codes
}

func byStatus(codes []fault.Code) map[int][]fault.Code {
	slices.Sort(codes)
	grouped := map[int][]fault.Code{}
	for _, c := range slices.Compact(codes) {
		grouped[Status(c)] = append(grouped[Status(c)], c)
	}
	return grouped
}

// codesWithoutWait are the codes whose answers have no Retry-After although their status is 429.
var codesWithoutWait = []fault.Code{fault.UsagePolicyExceeded, fault.RevisionCeilingExceeded}

func refusalResponse(schemas huma.Registry, codes []fault.Code) *huma.Response {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = string(c)
	}
	response := &huma.Response{
		Description: strings.Join(names, ", "),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: envelopeOf(schemas, codes)}},
	}
	if Status(codes[0]) == http.StatusTooManyRequests {
		always := !slices.ContainsFunc(codes, func(c fault.Code) bool { return slices.Contains(codesWithoutWait, c) })
		response.Headers = map[string]*huma.Param{"Retry-After": {
			Description: "seconds to wait", Required: always, Schema: &huma.Schema{Type: huma.TypeString},
		}}
	}
	return response
}

func (a Answer) response() *huma.Response {
	r := &huma.Response{Description: a.Description}
	if a.MediaType != "" {
		schema := &huma.Schema{Type: huma.TypeString}
		if a.MediaType == "application/octet-stream" {
			schema.Format = "binary"
		}
		if a.Object {
			schema.Type = huma.TypeObject
		}
		r.Content = map[string]*huma.MediaType{a.MediaType: {Schema: schema}}
	}
	return r
}

// envelopeOf returns the schema of an envelope: a specific one if only one code is possible, otherwise the common one.
func envelopeOf(schemas huma.Registry, codes []fault.Code) *huma.Schema {
	name := "ErrorEnvelope"
	if len(codes) == 1 {
		name = camel(string(codes[0])) + "Envelope"
	} else {
		codes = fault.Codes()
		slices.Sort(codes)
	}
	if schemas.Map()[name] == nil {
		schemas.Map()[name] = envelopeSchema(codes)
		if name == "PowRequiredEnvelope" {
			addChallenge(schemas, schemas.Map()[name])
		}
	}
	return &huma.Schema{Ref: schemaPrefix + name}
}

// Schema provides huma with the schema of errors, for which it always asks.
func (*errorEnvelope) Schema(schemas huma.Registry) *huma.Schema { return envelopeOf(schemas, nil) }

func envelopeSchema(codes []fault.Code) *huma.Schema {
	enum, one := make([]any, len(codes)), 1
	for i, c := range codes {
		enum[i] = string(c)
	}
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	problem := &huma.Schema{
		Type:     huma.TypeObject,
		Required: []string{"code", "message"},
		Properties: map[string]*huma.Schema{
			"code":       {Type: huma.TypeString, Enum: enum},
			"message":    text(),
			"docs":       {Type: huma.TypeString, Format: "uri"},
			"request_id": {Type: huma.TypeString, MinLength: &one},
		},
	}
	return &huma.Schema{
		Type:       huma.TypeObject,
		Required:   []string{"error"},
		Properties: map[string]*huma.Schema{"error": problem},
	}
}

// addChallenge documents the member that goes with the error pow_required.
func addChallenge(schemas huma.Registry, envelope *huma.Schema) {
	envelope.Properties["challenge"] = schemas.Schema(reflect.TypeFor[contract.Challenge](), true, "Challenge")
	envelope.Required = append(envelope.Required, "challenge")
}

func camel(code string) string {
	var b strings.Builder
	for _, word := range strings.Split(code, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func idempotencyKey(required bool) *huma.Param {
	shortest, longest := 8, 200
	return &huma.Param{
		Name:        "Idempotency-Key",
		In:          "header",
		Required:    required,
		Description: "repeating the request with it gives the first result again",
		Schema: &huma.Schema{
			Type:      huma.TypeString,
			MinLength: &shortest,
			MaxLength: &longest,
			Pattern:   "^[A-Za-z0-9._:-]+$",
		},
	}
}

// commonParameters adds the parameters that every operation has after its own.
func commonParameters(_ *huma.OpenAPI, op *huma.Operation) {
	shortest, longest := 8, 128
	op.Parameters = append(op.Parameters, &huma.Param{
		Name:        "X-Request-Id",
		In:          "header",
		Description: "comes back in the answer; any other length gets a new one",
		Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest},
	})
}

// document serves the OpenAPI document. The same routes always give the same bytes.
func document(api huma.API) http.HandlerFunc {
	text := sync.OnceValue(func() []byte {
		b, err := json.MarshalIndent(api.OpenAPI(), "", "  ")
		if err != nil {
			panic(err)
		}
		return append(b, '\n')
	})
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(text())
	}
}
