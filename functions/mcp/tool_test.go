package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

// toolList are the tools as a client gets them.
func toolList(t *testing.T, e *env) (body json.RawMessage, tools []*mcp.Tool) {
	t.Helper()
	a := e.ask(t, "tools/list", map[string]any{})
	return a.Result, decoded[struct{ Tools []*mcp.Tool }](t, a.Result).Tools
}

func TestTheListOfToolsFitsAModel(t *testing.T) {
	body, tools := toolList(t, newEnv(t))
	if len(body) > 20_000 {
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

// TestTheHintsSayWhatAToolDoes expects of what needs the scope publish that it changes something, but for the list of
// access links, which only reads.
func TestTheHintsSayWhatAToolDoes(t *testing.T) {
	e := newEnv(t)
	_, tools := toolList(t, e)
	shows := []string{"delete_artifact", "set_visibility", "create_revision_link", "revoke_access_link"}
	for _, tool := range tools {
		a := tool.Annotations
		changes := slices.Contains(e.tools().find(tool.Name).scopes, credential.Publish) && tool.Name != "list_access_links"
		if a.ReadOnlyHint == changes {
			t.Errorf("%s: read only %t", tool.Name, a.ReadOnlyHint)
		}
		if *a.DestructiveHint != slices.Contains(shows, tool.Name) || *a.OpenWorldHint != *a.DestructiveHint {
			t.Errorf("%s: destructive %t, open world %t", tool.Name, *a.DestructiveHint, *a.OpenWorldHint)
		}
	}
}

// TestDocsNameEveryToolThatDoesMoreThanRead lets docs/mcp.md leave tools out, of which it says that they only read.
func TestDocsNameEveryToolThatDoesMoreThanRead(t *testing.T) {
	text, err := os.ReadFile("../../docs/mcp.md")
	expect.OK(t, err)
	_, table, _ := strings.Cut(string(text), "| Tool | Needs |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, tool := range newEnv(t).tools() {
		onlyReads := tool.effect.reads && slices.Equal(tool.scopes, reading)
		if !onlyReads && !strings.Contains(table, "`"+tool.name+"`") {
			t.Errorf("docs/mcp.md does not list %s", tool.name)
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
	if r.IsError && r.Value == nil {
		r.Value = json.RawMessage(r.Content[0].Text)
	}
	return r
}

// TestAFailureBreaksNoOutputSchema reads the answer as it is: clients hold all structured content to the schema.
func TestAFailureBreaksNoOutputSchema(t *testing.T) {
	e := newEnv(t)
	for _, tool := range e.tools() {
		a := e.ask(t, "tools/call", map[string]any{"name": tool.name, "arguments": map[string]any{"unknown": 1}})
		r := decoded[map[string]json.RawMessage](t, a.Result)
		_, structured := r["structuredContent"]
		text := decoded[[]struct{ Text string }](t, r["content"])[0].Text
		if string(r["isError"]) != "true" || structured != (tool.output == nil) ||
			failed(t, []byte(text)).Code != string(fault.InvalidRequest) {
			t.Errorf("%s answers %s", tool.name, a.Result)
		}
	}
}

// failed is the error of a tool.
func failed(t *testing.T, value json.RawMessage) problemFacts {
	t.Helper()
	return decoded[problem](t, value).Error
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
	e.views.latest = func(*artifact.Artifact) (view.View, error) { return view.View{}, nil }
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
	return edit.Result{Changed: true, Published: artifact.PublishedRevision{
		Artifact:   e.artifact.ID,
		Revision:   id.NewRevision(),
		Title:      "Seals & <tides>",
		PrivateURL: "https://app.test/v/" + string(e.artifact.ID),
		ExpiresAt:  noon.Add(2 * soon),
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
	out.Changed = false
	same := e.toolAnswer(t, "publish_artifact", args)
	if said := same.Content[1].Text; !strings.HasPrefix(said, "Nothing changed") || same.Content[0].Text != string(same.Value) {
		t.Errorf("without a new revision it says %q", said)
	}
	out.Published.ExpiresAt = noon.Add(soon)
	nudged := e.toolAnswer(t, "publish_artifact", args)
	if len(nudged.Content) != 3 || !strings.Contains(nudged.Content[2].Text, "2026-11-23T12:00:00Z") {
		t.Errorf("an artifact that ends soon: %v", nudged.Content)
	}
	out.Published.ExpiresAt = limits.Never
	lasting := e.toolAnswer(t, "publish_artifact", args)
	if len(lasting.Content) != 3 || lasting.Content[2].Text != "It does not expire." ||
		!strings.Contains(lasting.Content[0].Text, contract.At(limits.Never).UTC().Format("2006-01-02T15:04:05.000Z")) ||
		!strings.Contains(instructions, limits.Never.Format("2006-01-02T15:04:05.000Z")) {
		t.Errorf("an artifact without an end: %v", lasting.Content)
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
	out.Published.ExpiresAt = noon.Add(soon)
	if r := e.toolAnswer(t, "publish_artifact", args); !strings.HasPrefix(r.Content[2].Text, "The pages have") {
		t.Errorf("the end comes before what is broken: %v", r.Content)
	}
}

func TestADraftThatWaitsIsTold(t *testing.T) {
	e := newEnv(t)
	e.artifact.Draft, e.artifact.DraftAt = id.NewRevision(), noon
	e.views.latest = func(*artifact.Artifact) (view.View, error) { return view.View{}, nil }
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
		if own := strings.Contains(args, "my-own-key"); r.Derived == own {
			t.Errorf("%s: derived is %t", args, r.Derived)
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

func TestAForeignUploadSessionIsAnsweredAsOneThatNeverWas(t *testing.T) {
	e := newEnv(t)
	foreign := id.NewSession()
	e.members.session = &upload.Session{ID: foreign, Workspace: id.NewWorkspace()}
	for _, session := range []id.Session{foreign, id.NewSession()} {
		r := e.toolAnswer(t, "publish_upload", map[string]any{"upload_session_id": session})
		p := failed(t, r.Value)
		if p.Code != string(fault.NotFound) || p.Message != "no such upload session in this workspace; call prepare_upload" {
			t.Errorf("it answers %s", r.Value)
		}
	}
}

func TestEveryCallWithoutAKeyOpensItsOwnUpload(t *testing.T) {
	e := newEnv(t)
	var keys []string
	e.uploads.create = func(c idempotency.Command, _ contract.CreateSession, _ func() error) (upload.Created, error) {
		keys = append(keys, c.Key.Client)
		return upload.Created{}, idempotency.CheckClient(c.Key.Client)
	}
	args := map[string]any{"title": "x", "files": []any{map[string]any{"path": "a", "size_bytes": 1}}}
	for range 4 {
		if r := e.toolAnswer(t, "prepare_upload", args); r.IsError {
			t.Errorf("it answers %s", r.Value)
		}
		if len(keys) == 2 {
			args["idempotency_key"] = "my-own-key"
		}
	}
	if keys[0] == keys[1] || keys[2] != "my-own-key" || keys[3] != keys[2] {
		t.Errorf("the keys are %q", keys)
	}
}

func TestALockedArtifactIsNeitherReadNorListed(t *testing.T) {
	e := newEnv(t)
	e.views.latest = func(a *artifact.Artifact) (view.View, error) {
		if a == nil {
			return view.View{}, fault.NewCode(fault.NotFound)
		}
		return view.View{PrivateURL: "https://app.test"}, nil
	}
	e.artifacts.list = func(artifact.Page) ([]artifact.Artifact, string, error) {
		return []artifact.Artifact{{ID: id.NewArtifact()}, *e.artifact}, "", nil
	}
	for lock, listed := range map[string]int{"": 2, "lkd_1": 1} {
		e.artifact.Lock = id.Lockdown(lock)
		read := e.toolAnswer(t, "read_artifact", map[string]any{"artifact_id": e.artifact.ID})
		resource := e.ask(t, "resources/read", map[string]any{"uri": "artifact://" + string(e.artifact.ID)})
		list := decoded[contract.ArtifactList](t, e.toolAnswer(t, "list_artifacts", map[string]any{}).Value)
		if locked := lock != ""; read.IsError != locked || (resource.Error != nil) != locked || len(list.Data) != listed {
			t.Errorf("with the lock %q: %s, %s, %d are listed", lock, read.Value, resource.Body, len(list.Data))
		}
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
	expect.Lacks(t, "the log", log, "confidential", "Quarterly", accessToken)
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

func TestTheShellReadsTheFileThatACurlLineNames(t *testing.T) {
	for _, path := range []string{"-", "@", "@-", "a b", "it's.html", `"$HOME"`, "two\nlines", "-o", "`id`;&|*", `back\slash`} {
		line := curl(upload.Target{Path: path, Put: upload.PutTarget{URL: "https://put.test/?a=1"}})
		out, err := exec.CommandContext(t.Context(), "sh", "-c", `curl() { printf '%s\0' "$@"; }; `+line).Output()
		if args := strings.Split(string(out), "\x00"); err != nil || !slices.Equal(args,
			[]string{"-fsS", "-X", "PUT", "--data-binary", "@./" + path, "https://put.test/?a=1", ""}) {
			t.Errorf("%q: curl takes %q (%v)", path, args, err)
		}
	}
}
