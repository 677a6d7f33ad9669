// Package openapi_test holds the golden documents of the hosts against the specification, with a validator that is not
// the library that wrote them.
package openapi_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi/datamodel"
)

// document is what the tests read of a golden document.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	OperationID string
	Parameters  []parameter
	Responses   map[string]struct{ Description string }
}

type parameter struct {
	Name, In string
	Required bool
}

type schema struct {
	Required   []string
	Properties map[string]struct {
		Type      any
		MaxLength int
		Pattern   string
	}
}

// golden names the documents.
func golden(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	return names
}

func read(t *testing.T, name string) (d document) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return d
}

func TestTheDocumentsAreValidOpenAPI31(t *testing.T) {
	for _, name := range golden(t) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems(t, raw) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestTheValidatorRefusesWhatIsNoOpenAPI31(t *testing.T) {
	const head, tail = `{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/x": {"get": `, `}}}`
	const fine = `"responses": {"200": {"description": "x"}}`
	for what, operation := range map[string]string{
		"an unresolved reference": `{"responses": {"200": {"description": "x", "content": {"text/plain": ` +
			`{"schema": {"$ref": "#/components/schemas/None"}}}}}}`,
		"an answer without text": `{"responses": {"200": {}}}`,
		"a parameter in nowhere": `{"parameters": [{"name": "x", "in": "body", "schema": {}}], ` + fine + `}`,
	} {
		if len(problems(t, []byte(head+operation+tail))) == 0 {
			t.Errorf("%s is not found", what)
		}
	}
	if found := problems(t, []byte(head+`{`+fine+`}`+tail)); len(found) > 0 {
		t.Errorf("a valid document is refused: %v", found)
	}
}

// problems are what the validator finds wrong with a document.
func problems(t *testing.T, raw []byte) (found []string) {
	t.Helper()
	quiet := &datamodel.DocumentConfiguration{Logger: slog.New(slog.DiscardHandler)}
	d, err := libopenapi.NewDocumentWithConfiguration(raw, quiet)
	if err != nil {
		return []string{err.Error()}
	}
	v, errs := validator.NewValidator(d)
	for _, err := range errs {
		found = append(found, err.Error())
	}
	if v == nil {
		return found
	}
	_, invalid := v.ValidateDocument()
	for _, err := range invalid {
		found = append(found, err.Error())
		for _, detail := range err.SchemaValidationErrors {
			found = append(found, detail.Error())
		}
	}
	return found
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// TestEveryPartOfAPathIsADeclaredParameter holds what the specification asks of each operation and its schema cannot
// say.
func TestEveryPartOfAPathIsADeclaredParameter(t *testing.T) {
	for _, name := range golden(t) {
		for path, operations := range read(t, name).Paths {
			var want []string
			for _, match := range placeholder.FindAllStringSubmatch(path, -1) {
				want = append(want, match[1])
			}
			slices.Sort(want)
			for method, op := range operations {
				var got []string
				for _, p := range op.Parameters {
					if p.In == "path" {
						got = append(got, p.Name)
					}
					if p.In == "path" && !p.Required {
						t.Errorf("%s: %s %s: %s is optional", name, method, path, p.Name)
					}
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s: %s %s declares %v", name, method, path, got)
				}
			}
		}
	}
}

func TestAnOperationIDNamesOneOperation(t *testing.T) {
	for _, name := range golden(t) {
		seen := map[string]string{}
		for path, operations := range read(t, name).Paths {
			for method, op := range operations {
				if before := seen[op.OperationID]; op.OperationID == "" || before != "" {
					t.Errorf("%s: %s %s has the id %q of %q", name, method, path, op.OperationID, before)
				}
				seen[op.OperationID] = method + " " + path
			}
		}
	}
}

func TestTheFileOfFileContentIsRequired(t *testing.T) {
	op := read(t, "api.json").Paths["/v1/artifacts/{artifact_id}/file-content"]["get"]
	for name, want := range map[string]bool{"path": true, "revision_id": false} {
		if !slices.Contains(op.Parameters, parameter{Name: name, In: "query", Required: want}) {
			t.Errorf("%s required: not %v: %+v", name, want, op.Parameters)
		}
	}
	if got := op.Responses["400"].Description; got != "invalid_auth" {
		t.Errorf("400 is %q, but a query of texts is never refused as invalid", got)
	}
}

func TestMembersThatAreNeverSentAreDocumented(t *testing.T) {
	schemas := read(t, "api.json").Components.Schemas
	textOrNull := []any{"string", "null"}
	for _, name := range []string{"AgentView", "PublicAgentView"} {
		d, required := schemas[name].Properties["description"], slices.Contains(schemas[name].Required, "description")
		if d.MaxLength != 2000 || !equalJSON(d.Type, textOrNull) || required {
			t.Errorf("%s: description is %+v, required: %t", name, d, required)
		}
	}
	code := schemas["ProvisionRequest"].Properties["claim_code"]
	if !equalJSON(code.Type, textOrNull) || code.Pattern != "^clm_[0-9A-HJKMNP-TV-Z]{26}$" {
		t.Errorf("claim_code is %+v; there are %v", code, slices.Sorted(maps.Keys(schemas)))
	}
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// TestOperationsDeclareWhatTheyCanAnswer holds what the routes of the authorization server declare, and statuses that
// others of the same kind have but that nothing can provoke at these.
func TestOperationsDeclareWhatTheyCanAnswer(t *testing.T) {
	byID := map[string]operation{}
	for _, operations := range read(t, "api.json").Paths {
		for _, op := range operations {
			byID[op.OperationID] = op
		}
	}
	for id, want := range map[string]string{
		"oauth.token":                 "200 400 401 429 500 503",
		"oauth.deviceAuthorization":   "200 400 401 429 500 503",
		"oauth.revoke":                "200 400 429 500 503",
		"oauth.register":              "201 400 429 500 503",
		"agentAuth.register":          "200 400 401 403 429 500 503",
		"agentAuth.startClaim":        "200 400 429 500 503",
		"agentAuth.notify":            "202 400 429 500 503",
		"mcp.whoami":                  "200 400 401 429 500 503",
		"ephemeral.claim":             "200 400 401 404 409 429 500 503",
		"web.auth.callback":           "200 400 401 500 503",
		"web.workspace.get":           "200 400 401 429 500 503",
		"web.accessLinks.revoke":      "200 400 401 403 404 429 500 503",
		"web.agentAuth.claimComplete": "200 400 401 403 429 500 503",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(byID[id].Responses)), " "); got != want {
			t.Errorf("%s declares %s, want %s", id, got, want)
		}
	}
	if got := byID["web.admin.lockdown.lift"].Responses["400"].Description; got != "invalid_idempotency_key" {
		t.Errorf("lifting a lockdown declares 400 for %s", got)
	}
}
