package template

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const deployment = "testdata/deployment"

func TestADeploymentIsReadFromItsTemplates(t *testing.T) {
	got, err := Read(deployment)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantShop(), got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// wantShop returns the content of the templates in the folder deployment.
func wantShop() *Deployment {
	api, content := shopFunctions()
	mappings := []Mapping{
		{
			Status: 200,
			Action: "append",
			Header: "x-made-by",
			Text:   "us",
		},
		{
			Status: 401,
			Action: "overwrite",
			Header: "www-authenticate",
			From:   "x-challenge",
		},
		{Status: 401, Action: "remove", Header: "x-challenge"},
	}
	return &Deployment{
		Functions: []*Function{api, content},
		APIs: []*API{
			{
				Stack:   "Shop-Api",
				ID:      "Api1",
				Name:    "Shop-Api",
				Stage:   "$default",
				Domains: []string{"api.shop.example"},
				Routes: []*Route{
					{
						Key:      "GET /things/{id}",
						Method:   "GET",
						Path:     "/things/{id}",
						Function: api,
						Timeout:  5 * time.Second,
						Mappings: mappings,
					},
					{
						Key:      "$default",
						Method:   "ANY",
						Function: api,
						Timeout:  5 * time.Second,
						Mappings: mappings,
					},
				},
			},
			{
				Stack:       "Shop-Content",
				ID:          "Rest1",
				Name:        "Shop-Content",
				REST:        true,
				Stage:       "live",
				Domains:     []string{"content.shop.example"},
				BinaryTypes: []string{"*/*"},
				Routes: []*Route{
					{
						Key:      "/",
						Method:   "GET",
						Path:     "/",
						Function: content,
						Timeout:  29 * time.Second,
					},
					{
						Key:      "/v/{proxy+}",
						Method:   "ANY",
						Path:     "/v/{proxy+}",
						Function: content,
						Timeout:  15 * time.Minute,
						Stream:   true,
					},
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
}

func shopFunctions() (api, content *Function) {
	api = &Function{
		Stack:        "Shop-Api",
		ID:           "Fn1",
		Host:         "api",
		Asset:        filepath.Join(deployment, "asset.1.zip"),
		Architecture: "arm64",
		Timeout:      28 * time.Second,
		MemoryMB:     512,
		Placeholders: []string{"ROLE", "SELF", "TABLE"},
		Environment: map[string]string{
			"PLAIN": "text", "TABLE": "Table1", "REGION": "us-east-1", "PLACE": "in-aws-b", "ROLE": "Role1.Arn",
			"SELF": "me at Role1.Arn of Shop-Api, ${literally}",
		},
	}
	content = &Function{
		Stack:        "Shop-Content",
		ID:           "Fn2",
		Host:         "content",
		Asset:        filepath.Join(deployment, "asset.2"),
		Architecture: "x86_64",
		Timeout:      3 * time.Second,
		MemoryMB:     128,
	}
	return api, content
}

func TestWhatIsNotUnderstoodIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ stack, id, property, becomes, says string }{
		"an intrinsic": {"Shop-Api", "Fn1", "Environment",
			`{"Variables": {"A": {"Fn::FindInMap": ["a", "b", "c"]}}}`,
			"Fn1: Environment: Variables: A: Fn::FindInMap is not understood"},
		"a property of a function": {"Shop-Api", "Fn1", "Layers", `["a"]`,
			`AWS::Lambda::Function Fn1: its properties are not understood: json: unknown field "Layers"`},
		"two architectures": {"Shop-Api", "Fn1", "Architectures", `["arm64", "x86_64"]`, "one architecture"},
		"a resource that is gone": {"Shop-Api", "Fn1", "Role", `{"Ref": "Role9"}`,
			`Ref "Role9": the template has no such resource`},
		"an export that is gone": {"Shop-Api", "Fn1", "Role", `{"Fn::ImportValue": "x"}`,
			"no template of the folder exports it"},
		"an index past the end":    {"Shop-Api", "Fn1", "Handler", `{"Fn::Select": [3, ["a", "b"]]}`, "the list has 2 parts"},
		"a list where text is due": {"Shop-Api", "Fn1", "Handler", `{"Fn::Join": ["", [["a"]]]}`, `["a"] is no text`},
		"CORS by the gateway":      {"Shop-Api", "Api1", "CorsConfiguration", `{}`, `"CorsConfiguration"`},
		"WebSockets":               {"Shop-Api", "Api1", "ProtocolType", `"WEBSOCKET"`, `ProtocolType "WEBSOCKET"`},
		"a stage in the path":      {"Shop-Api", "Stage1", "StageName", `"v1"`, "only the stage $default"},
		"a stage of nothing":       {"Shop-Api", "Stage1", "ApiId", `"Fn1"`, `"Fn1" is no gateway`},
		"an authorizer":            {"Shop-Api", "Route1", "AuthorizationType", `"JWT"`, `AuthorizationType "JWT"`},
		"a route without path":     {"Shop-Api", "Route1", "RouteKey", `"GET"`, `RouteKey "GET"`},
		"a route to nothing":       {"Shop-Api", "Route1", "Target", `"integrations/x"`, `the target "x"`},
		"payload format 1.0": {"Shop-Api", "Integration1", "PayloadFormatVersion", `"1.0"`,
			"only AWS_PROXY with payload format 2.0"},
		"another runtime": {"Shop-Api", "Integration1", "IntegrationUri", `{"Fn::GetAtt": ["Helper1", "Arn"]}`,
			"leads to no function"},
		"a reserved header": {"Shop-Api", "Integration1", "ResponseParameters",
			`{"200": {"ResponseParameters": [{"Destination": "append:header.content-length", "Source": "1"}]}}`,
			`the destination "append:header.content-length"`},
		"a status mapping": {"Shop-Api", "Integration1", "ResponseParameters",
			`{"200": {"ResponseParameters": [{"Destination": "overwrite:statuscode", "Source": "1"}]}}`,
			`the destination "overwrite:statuscode"`},
		"a variable as source": {"Shop-Api", "Integration1", "ResponseParameters",
			`{"200": {"ResponseParameters": [{"Destination": "append:header.x", "Source": "$context.stage"}]}}`,
			`the source "$context.stage"`},
		"a path below a domain": {"Shop-Api", "Mapping1", "ApiMappingKey", `"v1"`, `the path "v1"`},
		"stage variables":       {"Shop-Content", "Stage2", "Variables", `{}`, `"Variables"`},
		"a mock":                {"Shop-Content", "Method1", "Integration", `{"Type": "MOCK"}`, `not "MOCK"`},
		"a stream to a plain URI": {"Shop-Content", "Method1", "Integration",
			`{"Type": "AWS_PROXY", "IntegrationHttpMethod": "POST", "ResponseTransferMode": "STREAM", "Uri": "x"}`,
			"does not go with the URI"},
		"a resource of nothing": {"Shop-Content", "Resource1", "ParentId", `"x"`, `"x" is no resource`},
		"a refusal's variable": {"Shop-Content", "Refused", "ResponseTemplates", `{"application/json": "$context.stage"}`,
			"only the variable $context.requestId"},
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
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "stack "+c.stack+": ") {
				t.Errorf("got %v, want it to say %q of %s", err, c.says, c.stack)
			}
		})
	}
}

func TestResourcesThatChangeRequestsAreNotPassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		change func(resources map[string]any)
		says   string
	}{
		"an authorizer": {func(all map[string]any) { all["A"] = map[string]any{"Type": "AWS::ApiGatewayV2::Authorizer"} },
			"this kind of resource"},
		"a condition": {func(all map[string]any) { all["Api1"].(map[string]any)["Condition"] = "Sometimes" },
			"a condition"},
		"no asset": {func(all map[string]any) { delete(all["Fn1"].(map[string]any), "Metadata") },
			"aws:asset:path is missing"},
		"no stage": {func(all map[string]any) { delete(all, "Stage1") }, "it has no stage"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(changed(t, "Shop-Api", c.change)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
		})
	}
}

func TestAFolderThatTheCDKDidNotMakeIsNamed(t *testing.T) {
	for text, says := range map[string]string{
		"": "is no folder that the CDK made",
		`{"artifacts": {"x": {"type": "cdk:cloud-assembly"}}}`: "the nested assembly x",
		`[]`: "the manifest of",
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
}

// changed returns a copy of the deployment with a change of one template.
func changed(t *testing.T, stack string, change func(resources map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(deployment)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, stack+".template.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	change(whole["Resources"].(map[string]any))
	if text, err = json.Marshal(whole); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
