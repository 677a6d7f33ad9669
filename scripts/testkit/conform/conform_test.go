package conform

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// document has a schema that refers to another and to itself.
const document = `{
	"components": {"schemas": {
		"Folder": {"type": "object", "required": ["owner"], "properties": {
			"owner": {"$ref": "#/components/schemas/Owner"},
			"folders": {"type": "array", "items": {"$ref": "#/components/schemas/Folder"}}
		}},
		"Owner": {"type": "string"},
		"Error": {"type": "object", "required": ["error"]}
	}},
	"paths": {"/folders/{id}": {"get": {"operationId": "read", "responses": {
		"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Folder"}}}},
		"404": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
		"409": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
	}}}, "/folders/new": {"get": {"operationId": "begin", "responses": {"302": {}}}}}
}`

func TestAnswersAreHeldAgainstTheirSchemas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status int
		body   string
		fine   bool
	}{
		{200, `{"owner": "ada", "folders": [{"owner": "bob"}]}`, true},
		{200, `{"owner": "ada", "folders": [{"owner": 1}]}`, false},
		{200, `{"owner": "ada", "folders": [{}]}`, false},
		{404, `{"error": {}}`, true},
		{404, `{"owner": "ada"}`, false},
		{409, `{"owner": "ada"}`, false},
		{500, `{"error": {}}`, false},
	} {
		answer := &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {"application/json"}}}
		if err := d.Check("GET", "/folders/x", answer, []byte(tt.body)); (err == nil) != tt.fine {
			t.Errorf("%d %s: %v", tt.status, tt.body, err)
		}
	}
}

func TestAPathWithoutParametersGoesFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 { // the members of an object have no order
		d, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for path, fine := range map[string]bool{"/folders/new": true, "/folders/old": false} {
			if err := d.Check("GET", path, &http.Response{StatusCode: 302}, nil); (err == nil) != fine {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
