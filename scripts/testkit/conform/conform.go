// Package conform checks answers of the hosts against their OpenAPI documents.
package conform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Document is one host's OpenAPI document.
type Document struct {
	operations []operation
}

type operation struct {
	id, method string
	path       *regexp.Regexp
	parameters int // of the path; the fewer, the earlier it is tried, as OpenAPI prescribes for paths without any
	responses  map[string]response
}

type response struct {
	headers []string // required ones
	media   map[string]*jsonschema.Resolved
}

// Load reads a document.
func Load(file string) (*Document, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// Schemas refer to components; to be a JSON Schema on its own each carries them along.
	data = bytes.ReplaceAll(data, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var raw struct {
		Components struct{ Schemas map[string]json.RawMessage }
		Paths      map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct {
				Headers map[string]struct{ Required bool }
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	schemas := resolver{components: raw.Components.Schemas, resolved: map[string]*jsonschema.Resolved{}}
	d := &Document{}
	for path, methods := range raw.Paths {
		for method, o := range methods {
			op := operation{
				id:         o.OperationID,
				method:     strings.ToUpper(method),
				path:       matcher(path),
				parameters: strings.Count(path, "{"),
				responses:  map[string]response{},
			}
			for status, r := range o.Responses {
				out := response{media: map[string]*jsonschema.Resolved{}}
				for name, h := range r.Headers {
					if h.Required {
						out.headers = append(out.headers, name)
					}
				}
				for media, c := range r.Content {
					if out.media[media], err = schemas.resolve(c.Schema); err != nil {
						return nil, fmt.Errorf("%s %s: %w", method, path, err)
					}
				}
				op.responses[status] = out
			}
			d.operations = append(d.operations, op)
		}
	}
	slices.SortFunc(d.operations, func(a, b operation) int { return cmp.Compare(a.parameters, b.parameters) })
	return d, nil
}

// resolver prepares schemas that refer to the components of one document. It keeps them by their text, because the
// hundreds of responses of a document have few different schemas, and each takes milliseconds.
type resolver struct {
	components map[string]json.RawMessage
	resolved   map[string]*jsonschema.Resolved
}

func (r resolver) resolve(schema json.RawMessage) (*jsonschema.Resolved, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	if known := r.resolved[string(schema)]; known != nil {
		return known, nil
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(schema, root); err != nil {
		return nil, err
	}
	root.Defs = map[string]*jsonschema.Schema{}
	if err := r.define(root.Defs, schema); err != nil {
		return nil, err
	}
	prepared, err := root.Resolve(nil)
	r.resolved[string(schema)] = prepared
	return prepared, err
}

var reference = regexp.MustCompile(`"#/\$defs/([^"]+)"`)

// define adds the components that a schema refers to, and those that they refer to.
func (r resolver) define(defs map[string]*jsonschema.Schema, schema json.RawMessage) error {
	for _, m := range reference.FindAllSubmatch(schema, -1) {
		name := string(m[1])
		if defs[name] != nil {
			continue
		}
		defs[name] = new(jsonschema.Schema)
		if err := json.Unmarshal(r.components[name], defs[name]); err != nil {
			return err
		}
		if err := r.define(defs, r.components[name]); err != nil {
			return err
		}
	}
	return nil
}

var parameter = regexp.MustCompile(`\\\{([a-z_]+)\\\}`)

// matcher compiles a path template: {path} is the rest, every other parameter one part.
func matcher(template string) *regexp.Regexp {
	expression := parameter.ReplaceAllStringFunc(regexp.QuoteMeta(template), func(p string) string {
		if p == `\{path\}` {
			return `.+`
		}
		return `[^/]+`
	})
	return regexp.MustCompile("^" + expression + "$")
}

// Check checks an answer against the document. An undocumented path may only be not found.
func (d *Document) Check(method, escapedPath string, answer *http.Response, body []byte) error {
	for _, o := range d.operations {
		if o.method == method && o.path.MatchString(escapedPath) {
			if err := o.check(answer, body); err != nil {
				return fmt.Errorf("%s: %d %.300q: %w", o.id, answer.StatusCode, body, err)
			}
			return nil
		}
	}
	if escapedPath == "/healthz" || escapedPath == "/openapi.json" || answer.StatusCode == http.StatusNotFound {
		return nil
	}
	return fmt.Errorf("%s %s answers %d and is not documented", method, escapedPath, answer.StatusCode)
}

func (o operation) check(answer *http.Response, body []byte) error {
	r, ok := o.responses[strconv.Itoa(answer.StatusCode)]
	if !ok {
		return fmt.Errorf("the status is not documented")
	}
	for _, name := range r.headers {
		if answer.Header.Get(name) == "" {
			return fmt.Errorf("the required header %s is missing", name)
		}
	}
	if o.method == http.MethodHead || len(body) == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	schema, ok := r.media[media]
	if _, binary := r.media["application/octet-stream"]; !ok && binary {
		return nil // declared as bytes, sent with the file's own type
	}
	if !ok {
		return fmt.Errorf("the media type %s is not documented", media)
	}
	if media != "application/json" || schema == nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}

// Transport checks every answer that passes through it.
type Transport struct {
	Base      http.RoundTripper
	Documents map[string]*Document // by host and port
	// Fail is called for every answer that does not conform.
	Fail func(err error)
}

// RoundTrip implements http.RoundTripper. Bodies up to maxBody are read and checked, larger ones
// pass.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Base.RoundTrip(r)
	d := t.Documents[r.URL.Host]
	if err != nil || d == nil || strings.HasPrefix(r.URL.Path, "/o/") || strings.HasPrefix(r.URL.Path, "/d/") ||
		strings.HasPrefix(r.URL.Path, "/.well-known/o") {
		return answer, err
	}
	var body []byte
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") && r.Method != http.MethodHead {
		if body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody)); err != nil {
			return answer, err
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), answer.Body), answer.Body}
	}
	if err := d.Check(r.Method, cmp.Or(r.URL.EscapedPath(), "/"), answer, body); err != nil {
		t.Fail(err)
	}
	return answer, nil
}

const maxBody = 8 << 20
