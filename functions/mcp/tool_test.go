package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/lint"
)

// toolList are the tools as a client gets them.
func toolList(t *testing.T, e *env) (body json.RawMessage, tools []*mcp.Tool) {
	t.Helper()
	a := e.ask(t, "tools/list", map[string]any{})
	return a.Result, decoded[struct{ Tools []*mcp.Tool }](t, a.Result).Tools
}

func TestTheListOfToolsFitsAModel(t *testing.T) {
	body, tools := toolList(t, newEnv(t))
	if len(body) > 20_000 || len(tools) != 17 {
		t.Errorf("%d tools take %d bytes", len(tools), len(body))
	}
	t.Logf("%d bytes", len(body))
	for _, tool := range tools {
		if len(tool.Description) > 300 || tool.Title == "" || tool.Annotations.Title != tool.Title {
			t.Errorf("%s is called %q and described in %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		schema := tool.InputSchema.(map[string]any)
		closed, _ := json.Marshal(schema["additionalProperties"])
		if string(closed) != `{"not":{}}` && string(closed) != "false" {
			t.Errorf("%s takes other arguments: %s", tool.Name, closed)
		}
	}
}

func TestTheHintsSayWhatAToolDoes(t *testing.T) {
	_, tools := toolList(t, newEnv(t))
	reads := []string{"list_artifacts", "read_artifact", "read_file", "list_revisions", "list_access_links", "whoami",
		"diff_revisions"}
	shows := []string{"delete_artifact", "set_visibility", "create_revision_link", "revoke_access_link"}
	for _, tool := range tools {
		a := tool.Annotations
		if a.ReadOnlyHint != slices.Contains(reads, tool.Name) {
			t.Errorf("%s: read only %t", tool.Name, a.ReadOnlyHint)
		}
		if *a.DestructiveHint != slices.Contains(shows, tool.Name) || *a.OpenWorldHint != *a.DestructiveHint {
			t.Errorf("%s: destructive %t, open world %t", tool.Name, *a.DestructiveHint, *a.OpenWorldHint)
		}
	}
}

// toolAnswer calls a tool and returns its result.
func (e *env) toolAnswer(t *testing.T, tool string, args any) (r struct {
	Content []struct{ Text string }
	Value   json.RawMessage `json:"structuredContent"`
	IsError bool
}) {
	t.Helper()
	a := e.ask(t, "tools/call", map[string]any{"name": tool, "arguments": args})
	if a.Status != http.StatusOK || a.Error != nil {
		t.Fatalf("%s answers %d %s", tool, a.Status, a.Body)
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// failed is the error of a tool.
func failed(t *testing.T, value json.RawMessage) problemFacts {
	t.Helper()
	return decoded[problem](t, value).Error
}

func TestArgumentsThatDoNotFitAreToldToTheModel(t *testing.T) {
	e := newEnv(t)
	const art = "art_00000000000000000000000000"
	files := func(size float64) any {
		return map[string]any{"title": "x", "files": []any{map[string]any{"path": "a", "size_bytes": size}}}
	}
	for name, tt := range map[string]struct {
		tool string
		args any
		says string
	}{
		"missing":       {"publish_artifact", map[string]any{"title": "x"}, "body"},
		"unknown":       {"whoami", map[string]any{"name": "x"}, "name"},
		"no object":     {"whoami", []any{}, "object"},
		"a wrong type":  {"read_artifact", map[string]any{"artifact_id": 7}, "artifact_id"},
		"a wrong id":    {"read_artifact", map[string]any{"artifact_id": "art_1"}, "pattern"},
		"a wrong word":  {"set_visibility", map[string]any{"artifact_id": art, "visibility": "public"}, "visibility"},
		"an empty text": {"publish_artifact", map[string]any{"title": "x", "body": "", "render_mode": "text"}, "body"},
		"no edits":      {"multi_edit", map[string]any{"artifact_id": art, "path": "a", "edits": []any{}}, "edits"},
		"an empty search": {"multi_edit", map[string]any{
			"artifact_id": art, "path": "a", "edits": []any{map[string]any{"old_string": "", "new_string": "x"}},
		}, "old_string"},
		"a short key": {"publish_artifact", map[string]any{
			"title": "x", "body": "x", "render_mode": "text", "idempotency_key": "a",
		}, "idempotency_key"},
		"a negative size": {"prepare_upload", files(-1), "size_bytes"},
		"a half size":     {"prepare_upload", files(1.5), "size_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.toolAnswer(t, tt.tool, tt.args)
			p := failed(t, r.Value)
			if !r.IsError || p.Code != string(fault.InvalidRequest) || !strings.Contains(p.Message, tt.says) ||
				len(p.Message) > 600 || p.RequestID == "" || r.Content[0].Text != string(r.Value) {
				t.Errorf("it answers %s", r.Value)
			}
		})
	}
}

func TestAFindingQuotesLittleOfWhatWasSent(t *testing.T) {
	e := newEnv(t)
	r := e.toolAnswer(t, "read_artifact", map[string]any{"artifact_id": strings.Repeat("secret ", 100_000)})
	if p := failed(t, r.Value); len(p.Message) > 600 {
		t.Errorf("the finding has %d bytes", len(p.Message))
	}
}

func TestAnUnknownToolIsAFailureOfTheProtocol(t *testing.T) {
	e := newEnv(t)
	for _, a := range []rpcAnswer{
		e.ask(t, "tools/call", map[string]any{"name": "nothing"}),
		e.askNew(t, "tools/call", map[string]any{"name": "nothing"}),
	} {
		if a.Status != http.StatusBadRequest || a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("it answers %d %s", a.Status, a.Body)
		}
	}
}

func TestAPanicEndsOneAnswer(t *testing.T) {
	e := newEnv(t)
	e.account.delegate = func(credential.Actor, member.Member) contract.MCPWhoami {
		panic("secret of the service")
	}
	for range 2 {
		r := e.toolAnswer(t, "whoami", nil)
		if p := failed(t, r.Value); !r.IsError || p.Code != string(fault.Internal) || strings.Contains(p.Message, "secret") {
			t.Errorf("it answers %s", r.Value)
		}
	}
	if log := e.log.String(); !strings.Contains(log, `"stack"`) || !strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log says %s", log)
	}
}

func TestAFailureSaysWhatToDo(t *testing.T) {
	e := newEnv(t)
	spent, away := fault.New(fault.WriteAllowanceExceeded, "wait"), fault.New(fault.DatabaseUnavailable, "again")
	for name, tt := range map[string]struct {
		err  error
		code fault.Code
		wait int
	}{
		"of a rule":      {fault.New(fault.RevisionCeilingExceeded, "publish anew"), fault.RevisionCeilingExceeded, 0},
		"with a wait":    {spent.After(90*time.Second + 1), fault.WriteAllowanceExceeded, 91},
		"of the service": {errors.New("dial tcp: secret"), fault.Internal, 0},
		"in time":        {fmt.Errorf("read: %w", away), fault.DatabaseUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e.edits.publish = func(edit.Request, string, edit.Text) (edit.Result, error) { return edit.Result{}, tt.err }
			r := e.toolAnswer(t, "publish_artifact", map[string]any{"title": "x", "body": "x", "render_mode": "text"})
			p := failed(t, r.Value)
			if !r.IsError || p.Code != string(tt.code) || p.RetryAfter != tt.wait || strings.Contains(p.Message, "secret") {
				t.Errorf("it answers %s", r.Value)
			}
		})
	}
}

func TestALimitRefusesReadsAndWrites(t *testing.T) {
	e := newEnv(t)
	e.limiter.fail = fault.New(fault.RateLimitedActor, "wait").After(7 * time.Second)
	e.views.latest = func(*artifact.Artifact) (contract.AgentView, error) { return contract.AgentView{}, nil }
	e.edits.publish = func(r edit.Request, _ string, _ edit.Text) (edit.Result, error) { return edit.Result{}, r.Permit() }
	for tool, args := range map[string]any{
		"read_artifact":    map[string]any{"artifact_id": e.artifact.ID},
		"publish_artifact": map[string]any{"title": "x", "body": "x", "render_mode": "text"},
		"delete_artifact":  map[string]any{"artifact_id": e.artifact.ID}, // whose service would panic
		"set_visibility":   map[string]any{"artifact_id": e.artifact.ID, "visibility": "private"},
	} {
		r := e.toolAnswer(t, tool, args)
		if p := failed(t, r.Value); !r.IsError || p.Code != string(fault.RateLimitedActor) || p.RetryAfter != 7 {
			t.Errorf("%s answers %s", tool, r.Value)
		}
	}
	if e.ask(t, "tools/list", map[string]any{}).Status != http.StatusOK {
		t.Error("the list of tools counts")
	}
}

// published is a result of publishing.
func (e *env) published() edit.Result {
	return edit.Result{Changed: true, Published: contract.Published{
		ArtifactID: e.artifact.ID,
		RevisionID: id.NewRevision(),
		Title:      "Seals & <tides>",
		PrivateURL: "https://app.test/v/" + string(e.artifact.ID),
		ExpiresAt:  contract.At(noon.Add(2 * soon)),
	}}
}

func TestAResultSaysTheSameInTextAndStructure(t *testing.T) {
	e := newEnv(t)
	out := e.published()
	e.edits.publish = func(edit.Request, string, edit.Text) (edit.Result, error) { return out, nil }
	args := map[string]any{"title": "x", "body": "x", "render_mode": "text"}
	plain := e.toolAnswer(t, "publish_artifact", args)
	if len(plain.Content) != 2 || plain.Content[0].Text != string(plain.Value) ||
		!strings.Contains(plain.Content[1].Text, out.Published.PrivateURL) {
		t.Errorf("it answers %s and %v", plain.Value, plain.Content)
	}
	schema, err := publishOut().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(decoded[any](t, plain.Value)); err != nil {
		t.Errorf("the result is not as its schema says: %s", err)
	}
	out.Published.ExpiresAt = contract.At(noon.Add(soon))
	nudged := e.toolAnswer(t, "publish_artifact", args)
	if len(nudged.Content) != 3 || !strings.Contains(nudged.Content[2].Text, "2026-11-23T12:00:00Z") {
		t.Errorf("an artifact that ends soon: %v", nudged.Content)
	}
}

func TestAResultSaysWhatIsWrongWithThePages(t *testing.T) {
	e := newEnv(t)
	out := e.published()
	e.edits.publish = func(edit.Request, string, edit.Text) (edit.Result, error) { return out, nil }
	args := map[string]any{"title": "x", "body": "x", "render_mode": "html"}
	hint := lint.Warning{Code: lint.MissingTitle, Severity: lint.Info, Path: "index.html"}
	broken := lint.Warning{
		Code:     lint.MissingFile,
		Severity: lint.Error,
		Path:     "a\u202e\x1b.html",
		Line:     3,
		Subject:  "gone.png",
	}
	for _, tt := range []struct {
		name  string
		found []lint.Warning
		want  string
	}{
		{"nothing", nil, ""},
		{"what works", []lint.Warning{hint}, ""},
		{"what does not", []lint.Warning{broken, hint}, `The pages have 1 problem, the worst in "a\u202e\x1b.html" line 3: ` +
			`"gone.png" is not in the artifact`},
	} {
		out.Warnings = lint.Report{Warnings: tt.found}
		r := e.toolAnswer(t, "publish_artifact", args)
		switch {
		case tt.want == "" && len(r.Content) != 2:
			t.Errorf("%s: %v", tt.name, r.Content)
		case tt.want != "" && (len(r.Content) != 3 || !strings.HasPrefix(r.Content[2].Text, tt.want)):
			t.Errorf("%s: %v", tt.name, r.Content)
		}
		if strings.Contains(string(r.Value), "warnings") {
			t.Errorf("the closed shape has more: %s", r.Value)
		}
	}
	out.Published.ExpiresAt = contract.At(noon.Add(soon))
	if r := e.toolAnswer(t, "publish_artifact", args); !strings.HasPrefix(r.Content[2].Text, "The pages have") {
		t.Errorf("the end comes before what is broken: %v", r.Content)
	}
}

func TestADraftThatWaitsIsTold(t *testing.T) {
	e := newEnv(t)
	e.artifact.Draft, e.artifact.DraftAt = id.NewRevision(), noon
	e.views.latest = func(*artifact.Artifact) (contract.AgentView, error) { return contract.AgentView{}, nil }
	r := e.toolAnswer(t, "read_artifact", map[string]any{"artifact_id": e.artifact.ID})
	if len(r.Content) != 3 || !strings.Contains(r.Content[2].Text, string(e.artifact.Draft)) {
		t.Errorf("it answers %v", r.Content)
	}
}

func TestTheKeyOfACallTellsItFromOthers(t *testing.T) {
	e := newEnv(t)
	var got []edit.Request
	e.edits.publish = func(r edit.Request, _ string, _ edit.Text) (edit.Result, error) {
		got = append(got, r)
		return e.published(), nil
	}
	call := func(id, args string) edit.Request {
		t.Helper()
		e.post(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"publish_artifact","arguments":`+
			args+`}}`)
		r := got[len(got)-1]
		if err := idempotency.CheckClient(r.Client); err != nil {
			t.Errorf("%s has the key %q", id, r.Client)
		}
		return r
	}
	const one = `{"title":"x","body":"x","render_mode":"text"}`
	first := call("1", one)
	for name, same := range map[string]edit.Request{
		"the same":      call("1", one),
		"another order": call("1", `{"body":"x","render_mode":"text","title":"x"}`),
	} {
		if same.Client != first.Client || same.Fingerprint != first.Fingerprint {
			t.Errorf("%s has another key", name)
		}
	}
	for name, other := range map[string]edit.Request{
		"another id":       call("2", one),
		"another text":     call("1", `{"title":"x","body":"y","render_mode":"text"}`),
		"a long id":        call(`"`+strings.Repeat("x", 300)+`"`, one),
		"an id with signs": call(`"a b/c"`, one),
		"its own key":      call("1", `{"title":"x","body":"x","render_mode":"text","idempotency_key":"my-own-key"}`),
	} {
		if other.Client == first.Client {
			t.Errorf("%s has the same key", name)
		}
	}
	if key := got[len(got)-1]; len(got) != 8 || key.Client == "" {
		t.Errorf("%d calls", len(got))
	}
}

func TestTheLogNamesTheToolAndNothingOfTheCaller(t *testing.T) {
	e := newEnv(t)
	e.edits.publish = func(edit.Request, string, edit.Text) (edit.Result, error) { return e.published(), nil }
	e.toolAnswer(t, "publish_artifact",
		map[string]any{"title": "Quarterly", "body": "confidential", "render_mode": "text"})
	e.ask(t, "made/up confidential", map[string]any{})
	log := e.log.String()
	if !strings.Contains(log, `"tool":"publish_artifact"`) || !strings.Contains(log, `"rpc":"tools/call"`) ||
		!strings.Contains(log, `"rpc":"other"`) || !strings.Contains(log, string(e.members.member.ID)) {
		t.Errorf("the log says %s", log)
	}
	for _, private := range []string{"confidential", "Quarterly", accessToken} {
		if strings.Contains(log, private) {
			t.Errorf("the log has %q", private)
		}
	}
}

func TestEverySchemaIsOne(t *testing.T) {
	e := newEnv(t)
	for _, tool := range e.Host.tools() {
		for _, s := range []*jsonschema.Schema{tool.input, tool.output} {
			if s == nil {
				continue
			}
			if _, err := s.Resolve(nil); err != nil || s.Type != "object" {
				t.Errorf("%s: %v", tool.name, err)
			}
		}
	}
}

func TestTheAdviceAboutArgumentsIsCutBetweenCharacters(t *testing.T) {
	for shift := range 3 { // one of them would cut a character of three bytes
		schema := &jsonschema.Schema{Enum: []any{strings.Repeat("x", shift)}}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		sent, _ := json.Marshal(strings.Repeat("€", 300))
		message := fault.Of(checkArguments(resolved, sent)).Message
		if strings.ContainsRune(message, utf8.RuneError) || !strings.HasSuffix(message, "€…") {
			t.Errorf("%q", message)
		}
	}
}
