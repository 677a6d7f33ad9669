package template

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
)

const deployment = "testdata/deployment"

func TestADeploymentIsReadFromItsTemplates(t *testing.T) {
	got, err := Read(deployment)
	if err != nil {
		t.Fatal(err)
	}
	api := &Function{
		Stack:        "Shop-Api",
		ID:           "Fn1",
		Host:         "api",
		Timeout:      28 * time.Second,
		MemoryMB:     512,
		Placeholders: []string{"ROLE", "TABLE"},
		Environment: map[string]string{
			"PLAIN": "text",
			"TABLE": "Table1",
			"PLACE": "in-us-east-1",
			"ROLE":  "Role1.Arn",
		},
	}
	content := &Function{
		Stack:    "Shop-Content",
		ID:       "Fn2",
		Host:     "content",
		Timeout:  4 * time.Minute,
		MemoryMB: 128,
	}
	want := &Deployment{
		Functions: []*Function{api, content},
		APIs: []*API{
			{
				Stack: "Shop-Api",
				ID:    "Api1",
				Name:  "Shop-Api",
				Stage: "$default",
				Routes: []*Route{{
					Path:     "$default",
					Function: api,
					Timeout:  30 * time.Second,
					Mappings: []Mapping{{Status: 401, Header: "www-authenticate", From: "x-challenge"}},
				}},
			},
			{
				Stack: "Shop-Content",
				ID:    "Rest1",
				Name:  "Shop-Content",
				REST:  true,
				Stage: "live",
				Routes: []*Route{
					{Path: "/", Function: content, Timeout: 10 * time.Second},
					{Path: "/v/{proxy+}", Function: content, Timeout: 4 * time.Minute},
				},
				Refusals: map[string]Refusal{
					"DEFAULT_4XX": {
						Status:  418,
						Headers: map[string]string{"Cache-Control": "no-store"},
						Body:    `{"id":"$context.requestId"}`,
					},
				},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// What would change requests or answers in a way that is not emulated is refused, and the error names where it is.
func TestWhatIsNotUnderstoodIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ stack, id, property, becomes, says string }{
		"an intrinsic": {"Shop-Api", "Fn1", "Environment", `{"Variables": {"A": {"Fn::If": ["a", "b", "c"]}}}`,
			"Fn1: Environment: Variables: A: Fn::If is not understood"},
		"a property of a function": {"Shop-Api", "Fn1", "Layers", `["a"]`,
			`AWS::Lambda::Function Fn1: its properties are not understood: json: unknown field "Layers"`},
		"a resource that is gone":  {"Shop-Api", "Fn1", "Environment", `{"Ref": "Role9"}`, `Ref "Role9": the template has`},
		"an export that is gone":   {"Shop-Api", "Fn1", "Environment", `{"Fn::ImportValue": "x"}`, "no template of the"},
		"a list where text is due": {"Shop-Api", "Fn1", "Environment", `{"Fn::Join": ["", [["a"]]]}`, `[a] is no text`},
		"CORS by the gateway":      {"Shop-Api", "Api1", "CorsConfiguration", `{}`, `"CorsConfiguration"`},
		"WebSockets":               {"Shop-Api", "Api1", "ProtocolType", `"WEBSOCKET"`, `ProtocolType WEBSOCKET is not`},
		"a stage in the path":      {"Shop-Api", "Stage1", "StageName", `"v1"`, `only "$default"`},
		"an authorizer":            {"Shop-Api", "Route1", "AuthorizationType", `"JWT"`, "AuthorizationType JWT"},
		"a route of a path":        {"Shop-Api", "Route1", "RouteKey", `"GET /a"`, "RouteKey GET /a"},
		"a route to nothing":       {"Shop-Api", "Route1", "Target", `"integrations/x"`, `"x": the template has no`},
		"payload format 1.0":       {"Shop-Api", "Integration1", "PayloadFormatVersion", `"1.0"`, `only "2.0"`},
		"another runtime": {"Shop-Api", "Integration1", "IntegrationUri", `{"Fn::GetAtt": ["Helper1", "Arn"]}`,
			"leads to no function"},
		"a header that is added": {"Shop-Api", "Integration1", "ResponseParameters",
			`{"200": {"ResponseParameters": [{"Destination": "append:header.x", "Source": "1"}]}}`, "append:header.x"},
		"stage variables":       {"Shop-Content", "Stage2", "Variables", `{}`, `"Variables"`},
		"a mock":                {"Shop-Content", "Method1", "Integration", `{"Type": "MOCK"}`, "Type:MOCK"},
		"a resource of nothing": {"Shop-Content", "Resource1", "ParentId", `"x"`, `"x": the template has no`},
		"a variable in a path":  {"Shop-Content", "Resource1", "PathPart", `"{id}"`, `PathPart "{id}"`},
		"a refusal's header": {"Shop-Content", "Refused", "ResponseParameters",
			`{"gatewayresponse.header.X": "method.request.header.Y"}`, "is not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(changed(t, c.stack, func(resources map[string]any) {
				var value any
				if err := json.Unmarshal([]byte(c.becomes), &value); err != nil {
					t.Fatal(err)
				}
				resources[c.id].(map[string]any)["Properties"].(map[string]any)[c.property] = value
			}))
			expect.Error(t, err, "stack "+c.stack+": ", c.says)
		})
	}
}

func TestResourcesThatChangeRequestsAreNotPassedOver(t *testing.T) {
	_, err := Read(changed(t, "Shop-Api", func(all map[string]any) {
		all["A"] = map[string]any{"Type": "AWS::ApiGatewayV2::Authorizer"}
	}))
	expect.Error(t, err, "AWS::ApiGatewayV2::Authorizer A: this kind of resource")
	_, err = Read(changed(t, "Shop-Api", func(all map[string]any) {
		all["Api1"].(map[string]any)["Condition"] = "Rarely"
	}))
	expect.Error(t, err, "Api1: a condition")
	_, err = Read(changed(t, "Shop-Content", func(all map[string]any) { all["Rest2"] = all["Rest1"] }))
	expect.Error(t, err, "Rest2: a second gateway")
}

func TestAFolderThatTheCDKDidNotMakeIsNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(dir)
	expect.Error(t, err, dir, "is no folder that the CDK made")
}

// changed returns a copy of the deployment with a change of one template.
func changed(t *testing.T, stack string, change func(resources map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(deployment)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, stack+".template.json")
	var whole map[string]any
	if err := readJSON(file, &whole); err != nil {
		t.Fatal(err)
	}
	change(whole["Resources"].(map[string]any))
	text, err := json.Marshal(whole)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
