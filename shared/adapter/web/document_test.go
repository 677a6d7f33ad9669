package web_test

import (
	"encoding/json"
	"slices"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
)

// statuses is the table of the contract.
var statuses = map[fault.Code]int{
	fault.APIKeyNotFound: 404, fault.APIKeyRevoked: 409, fault.ArtifactNotFound: 404, fault.DatabaseUnavailable: 503,
	fault.DraftRevisionConflict: 409, fault.EntrypointNotInRevision: 422, fault.FileCountCapExceeded: 400,
	fault.FileSizeCapExceeded: 400, fault.Forbidden: 403, fault.IdempotencyInFlight: 409, fault.InvalidAuth: 400,
	fault.InvalidContentLength: 400, fault.InvalidCursor: 400, fault.InvalidIdempotencyKey: 400, fault.InvalidRequest: 400,
	fault.NotAuthenticated: 401, fault.NotFound: 404, fault.PinnedArtifactCap: 409, fault.RateLimitedActor: 429,
	fault.RateLimitedArtifact: 429, fault.RateLimitedWorkspace: 429, fault.ProvisionRateLimited: 429,
	fault.ProvisionUnavailable: 503, fault.PowRequired: 401, fault.PowInvalid: 400, fault.RevisionRetained: 410,
	fault.RevisionSizeCapExceeded: 400, fault.RevisionUnpublished: 404, fault.StorageUnavailable: 503,
	fault.UnexpectedUploadObject: 409, fault.UploadIncomplete: 409, fault.UploadSessionExpired: 409,
	fault.UploadSessionNotFound: 404, fault.UsagePolicyExceeded: 429, fault.WriteAllowanceExceeded: 429,
	fault.RevisionCeilingExceeded: 429, fault.PatchConflict: 422, fault.FeedbackConflict: 409, fault.Internal: 500,
}

func TestEveryCodeHasTheStatusOfTheContract(t *testing.T) {
	for _, c := range fault.Codes() {
		if got, want := web.Status(c), statuses[c]; got != want {
			t.Errorf("%s is %d, want %d", c, got, want)
		}
	}
	if len(statuses) != len(fault.Codes()) {
		t.Errorf("%d codes in the table, %d in the vocabulary", len(statuses), len(fault.Codes()))
	}
}

type document struct {
	OpenAPI    string
	Info       struct{ Title, Version string }
	Servers    []struct{ URL string }
	Security   []map[string][]string
	Components struct {
		Schemas         map[string]schema
		SecuritySchemes map[string]struct{ Type, Scheme, In, Name string }
	}
	Paths map[string]map[string]operation
}

type operation struct {
	OperationID string
	Security    []map[string][]string
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   struct{ MinLength, MaxLength int }
	}
	RequestBody struct {
		Required bool
		Content  map[string]struct{ Schema schema }
	}
	Responses map[string]struct {
		Description string
		Headers     map[string]struct{ Required bool }
		Content     map[string]struct{ Schema schema }
	}
}

type schema struct {
	Ref                  string `json:"$ref"`
	Properties           map[string]schema
	Enum                 []string
	AdditionalProperties *bool
}

func describe(t *testing.T, s *env) document {
	t.Helper()
	w := s.do(t, "GET", "/openapi.json", "")
	var d document
	expect.OK(t, json.Unmarshal(w.Body.Bytes(), &d))
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return d
}

func TestDocumentOfAHost(t *testing.T) {
	d := describe(t, newEnv(t))
	if d.OpenAPI != "3.1.0" || d.Info.Version != "0.1.0" || len(d.Servers) != 1 || d.Servers[0].URL != "http://api.test" {
		t.Errorf("%s %+v %+v", d.OpenAPI, d.Info, d.Servers)
	}
	if len(d.Security) != 1 || d.Components.SecuritySchemes["ApiKeyBearer"].Scheme != "bearer" {
		t.Errorf("%+v %+v, want the bearer scheme alone", d.Security, d.Components.SecuritySchemes)
	}
	if strict := d.Components.Schemas["NoInput"].AdditionalProperties; strict == nil || *strict {
		t.Error("the strict shape is documented as open")
	}
	if open := d.Components.Schemas["Resource"].AdditionalProperties; open != nil && !*open {
		t.Error("an open shape is documented as strict")
	}
	codes := d.Components.Schemas["ErrorEnvelope"].Properties["error"].Properties["code"].Enum
	if len(codes) != len(fault.Codes()) || !slices.IsSorted(codes) {
		t.Errorf("the envelope lists %d codes of %d", len(codes), len(fault.Codes()))
	}
}

func TestDocumentOfAGuardedRoute(t *testing.T) {
	op := describe(t, newEnv(t)).Paths["/v1/things"]["post"]
	if op.OperationID != "things.create" || len(op.Security) != 1 || op.Security[0]["ApiKeyBearer"] == nil {
		t.Errorf("%+v, want the bearer key on things.create", op)
	}
	if len(op.Parameters) != 2 || op.Parameters[0].Name != "Idempotency-Key" || !op.Parameters[0].Required ||
		op.Parameters[0].Schema.MaxLength != 200 ||
		op.Parameters[1].Name != "X-Request-Id" || op.Parameters[1].Required || op.Parameters[1].Schema.MinLength != 8 {
		t.Errorf("%+v, want the two headers with their bounds", op.Parameters)
	}
	if !op.RequestBody.Required || op.RequestBody.Content["application/json"].Schema.Ref != "#/components/schemas/Resource" {
		t.Errorf("%+v, want the resource", op.RequestBody)
	}
	for status, want := range map[string]string{
		"201": "Created",
		"400": "invalid_auth, invalid_idempotency_key, invalid_request",
		"401": "not_authenticated",
		"403": "forbidden",
		"409": "idempotency_in_flight",
		"410": "revision_retained",
		"429": "rate_limited_actor, rate_limited_workspace",
		"500": "internal_error",
		"503": "database_unavailable",
	} {
		if got := op.Responses[status].Description; got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
		delete(op.Responses, status)
	}
	if len(op.Responses) > 0 {
		t.Errorf("more: %+v", op.Responses)
	}
}

func TestDocumentOfASignedRoute(t *testing.T) {
	s := newEnv(t)
	s.host = s.server.Handler(web.Plain[struct{}](web.Operation{
		ID:       "events.take",
		Method:   "POST",
		Path:     "/v1/events",
		Security: web.StripeSignature,
	}, s.file))
	got := describe(t, s).Components.SecuritySchemes["StripeSignature"]
	if got.Type != "apiKey" || got.In != "header" || got.Name != "Stripe-Signature" {
		t.Errorf("%+v, want the key in the header Stripe-Signature", got)
	}
}

func TestDocumentOfAPlainRoute(t *testing.T) {
	d := describe(t, newEnv(t))
	op := d.Paths["/v/{token}/{path}"]["get"]
	if op.Security == nil || len(op.Security) != 0 {
		t.Errorf("security %v, want none", op.Security)
	}
	if len(op.Parameters) != 3 || op.Parameters[0].Name != "token" || op.Parameters[1].Name != "path" {
		t.Errorf("%+v, want token, path and a header", op.Parameters)
	}
	ref := op.Responses["500"].Content["application/json"].Schema.Ref
	if ref != "#/components/schemas/InternalErrorEnvelope" {
		t.Errorf("%q", ref)
	}
	if got := d.Components.Schemas["InternalErrorEnvelope"].Properties["error"].Properties["code"].Enum; !slices.Equal(got,
		[]string{"internal_error"}) {
		t.Errorf("%v", got)
	}
	if d.Paths["/v/{token}/{path}"]["head"].OperationID != "file.head" {
		t.Error("HEAD is not documented")
	}
}

func TestRetryAfterIsDocumented(t *testing.T) {
	d := describe(t, newEnv(t))
	if h := d.Paths["/v1/things"]["get"].Responses["429"].Headers["Retry-After"]; !h.Required {
		t.Error("Retry-After is not required")
	}
}

func TestEqualRoutesGiveEqualDocuments(t *testing.T) {
	first := newEnv(t).do(t, "GET", "/openapi.json", "").Body.String()
	for range 5 {
		if again := newEnv(t).do(t, "GET", "/openapi.json", "").Body.String(); again != first {
			t.Fatal("the documents differ")
		}
	}
}

func TestHEADIsAnsweredByTheGETHandler(t *testing.T) {
	w := newEnv(t).do(t, "HEAD", "/v1/policy", "", authorized...)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestCacheControlOfASuccess(t *testing.T) {
	s := newEnv(t)
	if got := s.do(t, "POST", "/v1/open", `{"title":"x"}`).Header().Get("Cache-Control"); got != "public, max-age=300" {
		t.Errorf("%q", got)
	}
	wantRefusal(t, s.do(t, "POST", "/v1/open", `{}`), 400, fault.InvalidRequest) // no-store
	if got := s.create1(t, `{"title":"x"}`).Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("%q", got)
	}
}
