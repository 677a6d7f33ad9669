package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestTheHostHasTheNameOfItsDeployment(t *testing.T) {
	for name, escaped := range map[string]string{"": "Vitrine", "A&B 'C'": "A&amp;B &#39;C&#39;"} {
		e := newEnv(t)
		e.Name, e.Manual = name, manualOf(e.Host, name)
		e.serve(t)
		shown := cmp.Or(name, "Vitrine")
		client := e.client(t, "", nil)
		server := client.InitializeResult()
		if server.ServerInfo.Title != shown || !strings.HasPrefix(server.Instructions, shown+" publishes ") {
			t.Errorf("%q: %q says %.40q", name, server.ServerInfo.Title, server.Instructions)
		}
		for uri, part := range map[string]string{
			skillURI: "\n# " + shown + "\n\n" + shown + " keeps ", cardURI: "<title>Artifact | " + escaped + "</title>",
		} {
			file, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			expect.OK(t, err)
			expect.Has(t, uri, file.Contents[0].Text, part)
			expect.Lacks(t, uri, file.Contents[0].Text, "{{name}}")
		}
		about, err := e.describe(t.Context(), nil)
		if err != nil || about.Name != shown {
			t.Errorf("%q is described as %q, %v", name, about.Name, err)
		}
	}
}

// TestTheSkillNamesToolsThatThereAre holds every name in code font that has an underscore against the tools, their
// arguments and the codes of failures.
func TestTheSkillNamesToolsThatThereAre(t *testing.T) {
	e := newEnv(t)
	known := map[string]bool{"private_url": true, "expires_at": true, "put_url": true, "required_headers": true}
	for _, tool := range e.tools() {
		known[tool.name] = true
		for name := range tool.input.Properties {
			known[name] = true
		}
	}
	for _, code := range fault.Codes() {
		known[string(code)] = true
	}
	names := regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(e.Manual.Skill+reportSteps, -1)
	if len(names) < 20 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		if !known[name[1]] {
			t.Errorf("there is no %s", name[1])
		}
	}
	for _, tool := range e.tools() {
		if !tool.card && !strings.Contains(e.Manual.Skill, "`"+tool.name+"`") &&
			!slices.Contains([]string{"read_artifact", "list_access_links", "whoami"}, tool.name) {
			t.Errorf("the skill does not say when to use %s", tool.name)
		}
	}
}

func TestTheBodyOfACallHasTheSizeOfTheDeployment(t *testing.T) {
	e := newEnv(t)
	p := e.Limits.Tiers[limits.Free]
	p.FileSize = 512 << 10
	e.Limits.Tiers[limits.Free] = p
	if got := e.body().Description; got != "The whole text, at most 512 KiB in UTF-8." {
		t.Errorf("the body is %q", got)
	}
}

// listed is a result of the skills extension, with every member that it has.
type listed struct {
	ResultType string           `json:"resultType"`
	TTLMs      *int             `json:"ttlMs"`
	CacheScope string           `json:"cacheScope"`
	Skills     []map[string]any `json:"skills"`
	Skill      map[string]any   `json:"skill"`
}

func TestTheSkillIsListedWithItsDigest(t *testing.T) {
	e := newEnv(t)
	file, err := e.client(t, "", nil).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: skillURI})
	if err != nil {
		t.Fatal(err)
	}
	text := file.Contents[0].Text
	sum := sha256.Sum256([]byte(text))
	head := e.Manual.Head
	want, _ := json.Marshal(map[string]any{
		"uri": skillURI,
		"frontmatter": map[string]any{
			"name":        head.Name,
			"description": head.Description,
			"metadata":    map[string]any{"version": head.Metadata.Version},
		},
		"resources": []any{
			map[string]any{"uri": skillURI, "digest": "sha256:" + hex.EncodeToString(sum[:]), "size": len(text)},
		},
	})
	for generation, ask := range generations {
		list := decoded[listed](t, ask(e, t, "skills/list", map[string]any{}).Result)
		one := decoded[listed](t, ask(e, t, "skills/get", map[string]any{"uri": skillURI}).Result)
		for _, l := range []listed{list, one} {
			if l.ResultType != "complete" || l.TTLMs == nil || *l.TTLMs <= 0 || l.CacheScope != "public" {
				t.Errorf("%s: %+v", generation, l)
			}
		}
		if len(list.Skills) != 1 {
			t.Fatalf("%s: %d skills", generation, len(list.Skills))
		}
		for _, entry := range []map[string]any{list.Skills[0], one.Skill} {
			if got, _ := json.Marshal(entry); string(got) != string(want) {
				t.Errorf("%s: %s", generation, got)
			}
		}
	}
	if n := e.limiter.calls(); n != 0 {
		t.Errorf("%d calls counted", n)
	}
}

func TestTheSkillsMethodsRefuseWhatTheyDoNotKnow(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		method string
		params map[string]any
		reason fault.Code
	}{
		"another skill":     {"skills/get", map[string]any{"uri": "skill://other/SKILL.md"}, fault.NotFound},
		"the folder":        {"skills/get", map[string]any{"uri": "skill://vitrine"}, fault.NotFound},
		"no name":           {"skills/get", map[string]any{}, fault.NotFound},
		"a number":          {"skills/list", map[string]any{"cursor": 1}, fault.InvalidCursor},
		"a cursor":          {"skills/list", map[string]any{"cursor": "x"}, fault.InvalidCursor},
		"a name in a shape": {"skills/get", map[string]any{"uri": map[string]any{}}, fault.NotFound},
	} {
		for generation, ask := range generations {
			t.Run(name+", "+generation, func(t *testing.T) {
				wantProblem(t, ask(e, t, c.method, c.params), http.StatusBadRequest, transport.CodeInvalidParams, c.reason)
			})
		}
	}
	if a := e.ask(t, "skills/get", nil); a.Error == nil || a.Error.Code != transport.CodeInvalidParams {
		t.Errorf("%s", a.Body)
	}
	a := e.ask(t, "resources/directory/read", map[string]any{"uri": "skill://vitrine"})
	if a.Status != http.StatusNotFound {
		t.Errorf("%s", a.Body)
	}
}
