package stripe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is the OpenAPI document of Stripe that stripe-mock embeds. It says what Stripe answers.
type Document struct {
	root     map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
}

// documentURL names the document for the compiler, which never fetches it.
const documentURL = "https://stripe.test/spec3.json"

// OpenDocument reads the document from the module of stripe-mock, which the go command downloads where it is missing.
func OpenDocument(ctx context.Context) (*Document, error) {
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", mockModule)
	download.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	download.Dir = os.TempDir() // outside this module
	out, err := download.Output()
	var module struct{ Dir, Error string }
	if problem := json.Unmarshal(out, &module); err != nil || problem != nil || module.Dir == "" {
		return nil, fmt.Errorf("go mod download %s: %w: %s", mockModule, err, module.Error)
	}
	raw, err := os.ReadFile(filepath.Join(module.Dir, "embedded", "openapi", "spec3.json"))
	if err != nil {
		return nil, err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	d := &Document{root: parsed.(map[string]any), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	strict(d.root["components"])
	strict(d.root["paths"])
	d.compiler.DefaultDraft(jsonschema.Draft4)
	return d, d.compiler.AddResource(documentURL, d.root)
}

// strict rewrites the schemas of OpenAPI 3.0 as JSON Schema: what is nullable may be null. Objects may have no members
// but those that Stripe names, so that an invented one is found.
func strict(node any) {
	switch n := node.(type) {
	case []any:
		for _, each := range n {
			strict(each)
		}
	case map[string]any:
		for _, each := range n {
			strict(each)
		}
		if _, schema := n["properties"].(map[string]any); schema && n["additionalProperties"] == nil && n["type"] == "object" {
			n["additionalProperties"] = false
		}
		if n["nullable"] == true {
			whole := maps.Clone(n)
			clear(n)
			n["anyOf"] = []any{whole, map[string]any{"enum": []any{nil}}}
		}
	}
}

// check returns what is wrong with JSON by the schema at a JSON pointer.
func (d *Document) check(pointer string, body []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.schemas[pointer]
	if s == nil {
		var err error
		if s, err = d.compiler.Compile(documentURL + "#" + (&url.URL{Fragment: pointer}).EscapedFragment()); err != nil {
			return err
		}
		d.schemas[pointer] = s
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// checkAnswer returns what is wrong with an answer of the stand-in.
func (d *Document) checkAnswer(a Answer) error {
	method, path, _ := strings.Cut(a.Route, " ")
	named, err := d.path(path)
	if err != nil {
		return err
	}
	status := "default"
	if a.Status == 200 {
		status = "200"
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	return d.check("/paths/"+escape(named)+"/"+strings.ToLower(method)+"/responses/"+status+
		"/content/application~1json/schema", a.Body)
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// path returns a path as the document spells its parameters.
func (d *Document) path(ours string) (string, error) {
	paths, _ := d.root["paths"].(map[string]any)
	for named := range paths {
		if parameter.ReplaceAllString(named, "{}") == parameter.ReplaceAllString(ours, "{}") {
			return named, nil
		}
	}
	return "", fmt.Errorf("no path of Stripe is %s", ours)
}

// checkEvent returns what is wrong with an event of the stand-in and with the object that it is about.
func (d *Document) checkEvent(e Event) error {
	if err := d.check("/components/schemas/event", e.Payload); err != nil {
		return err
	}
	var about struct {
		Data struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	var kind struct {
		Object string `json:"object"`
	}
	if err := json.Unmarshal(e.Payload, &about); err != nil {
		return err
	}
	if err := json.Unmarshal(about.Data.Object, &kind); err != nil {
		return err
	}
	return d.check("/components/schemas/"+kind.Object, about.Data.Object)
}

// Check returns what is wrong with everything that the stand-in has answered and with the events that it has made.
func (d *Document) Check(s *Standin) (wrong []error) {
	s.mu.Lock()
	answers, events := s.answers, s.made
	s.mu.Unlock()
	for _, a := range answers {
		if err := d.checkAnswer(a); err != nil {
			wrong = append(wrong, fmt.Errorf("%s answers %d %s: %w", a.Route, a.Status, a.Body, err))
		}
	}
	for _, e := range events {
		if err := d.checkEvent(e); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", e.Type, e.Payload, err))
		}
	}
	return wrong
}
