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
	"vitrine/shared/platform/media"
)

func TestTheSkillSpeaksOfThisDeployment(t *testing.T) {
	e := newEnv(t)
	text := e.skill()
	if strings.Contains(text, "{{") || strings.Contains(text, "}}") {
		t.Error("something is not filled in")
	}
	if n := strings.Count(text, "\n"); n > 120 {
		t.Errorf("%d lines", n)
	}
	expect.Has(t, "the skill", text,
		"https://app.test/v/", "https://upload.test/", "https://content.test", "at most 4 MiB", "100 files, 10 MiB a file",
		"25 MiB an artifact", "120 calls a minute", "work for 15 minutes", "within 24 hours", "3 days after it was made",
		"markdown is shown as a page", "pages that are open show the new revision by themselves",
	)
}

func TestTheHostHasTheNameOfItsDeployment(t *testing.T) {
	for name, escaped := range map[string]string{"": "Vitrine", "A&B 'C'": "A&amp;B &#39;C&#39;"} {
		e := newEnv(t)
		e.Name = name
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
	known := map[string]bool{"private_url": true, "expires_at": true}
	for _, tool := range e.tools() {
		known[tool.name] = true
		for name := range tool.input.Properties {
			known[name] = true
		}
	}
	for _, code := range fault.Codes() {
		known[string(code)] = true
	}
	names := regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(e.skill()+reportSteps, -1)
	if len(names) < 20 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		if !known[name[1]] {
			t.Errorf("there is no %s", name[1])
		}
	}
	for _, tool := range e.tools() {
		if !tool.card && !strings.Contains(e.skill(), "`"+tool.name+"`") &&
			!slices.Contains([]string{"read_artifact", "list_access_links", "whoami"}, tool.name) {
			t.Errorf("the skill does not say when to use %s", tool.name)
		}
	}
}

// TestTheSkillSaysWhatPagesMayLoad holds it to the hosts of the deployment.
func TestTheSkillSaysWhatPagesMayLoad(t *testing.T) {
	for name, c := range map[string]struct {
		from media.Sources
		says []string
	}{
		"those of a deployment that names none": {media.Running(), []string{
			"- Libraries may come from " + strings.Join(media.Running().Scripts, ", ") + ". No other host may send",
			"- Style sheets may come from these and from fonts.googleapis.com and use.fontawesome.com. " +
				"Fonts may come from fonts.gstatic.com, ",
			"- Images are files of the artifact, data: and blob: URLs, or come from cdn.jsdelivr.net, ",
			"- fetch reaches the files of the artifact, data: and blob: URLs, and cdn.jsdelivr.net, unpkg.com, ",
		}},
		"none": {media.Sources{}, []string{
			"- Libraries are files of the artifact. No other host may send scripts.\n",
			"- Style sheets are files of the artifact. Fonts are files of the artifact.\n",
			"- Images are files of the artifact, or data: and blob: URLs. Images of other hosts stay empty.\n",
			"- fetch reaches the files of the artifact, and data: and blob: URLs. Put other data",
		}},
		"the same for scripts and styles": {
			media.Sources{Scripts: []string{"a.test", "b.test"}, Styles: []string{"b.test", "a.test"}},
			[]string{"come from a.test, b.test. No", "- Style sheets may come from these. Fonts are"},
		},
		"others for styles": {
			media.Sources{Scripts: []string{"a.test", "b.test"}, Styles: []string{"b.test", "c.test"}},
			[]string{"- Style sheets may come from b.test, c.test."},
		},
		"none for scripts": {
			media.Sources{Styles: []string{"c.test"}, Connect: []string{"d.test"}},
			[]string{"- Libraries are files", "- Style sheets may come from c.test.", "URLs, and d.test. Put"},
		},
		"none for styles": {
			media.Sources{Scripts: []string{"a.test"}},
			[]string{"- Style sheets are files of the artifact."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.Loads = c.from
			expect.Has(t, "the skill", e.skill(), c.says...)
		})
	}
}

func TestTextsForAgentsHaveTheNumbersOfTheDeployment(t *testing.T) {
	e := newEnv(t)
	change := func(p limits.Policy) { e.Limits.Tiers[limits.Free] = p }
	p := e.Limits.Tiers[limits.Free]
	p.FileSize, p.ArtifactSize, p.FileCount, p.MaxLife = 512<<10, 1_000_000, 7, limits.Forever
	p.NewArtifactsPerDay, p.Revisions = 3, 9
	change(p)
	expect.Has(t, "the skill", e.skill(), "at most 512 KiB", "7 files, 512 KiB a file, 1000000 bytes an artifact",
		"3 new artifacts", "9 revisions", "3 days after it was made unless the workspace chose otherwise. "+
			"`expires_at` is in the year 2100 for what does not expire. New")
	if got := e.body().Description; got != "The whole text, at most 512 KiB in UTF-8." {
		t.Errorf("the body is %q", got)
	}
	p.FileSize, p.DefaultLife = 50*limits.MiB, limits.Forever
	for scripts, want := range map[limits.Scripts]string{
		limits.ScriptsOn:  "- Scripts run in the Vitrine page, inline or from a file of the artifact. They do",
		limits.ScriptsAsk: "- Scripts run for a reader who asks for them, in the Vitrine page, inline",
		limits.ScriptsOff: "- Scripts do not run. Show everything without them.\n",
	} {
		p.Scripts = scripts
		change(p)
		expect.Has(t, "the skill", e.skill(), want)
	}
	change(p)
	expect.Has(t, "the skill", e.skill(), "The body has at most 4 MiB.", "50 MiB a file",
		"Artifacts do not expire unless the workspace chose otherwise. `expires_at` is in")
}

func TestTheFrontMatterIsPlainYAML(t *testing.T) {
	text := newEnv(t).skill()
	head, _, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	lines := strings.Split(head, "\n")
	if !ok || !strings.HasPrefix(text, "---\n") || len(lines) != 2 {
		t.Fatalf("%q", head)
	}
	for i, name := range []string{"name", "description"} {
		key, value, _ := strings.Cut(lines[i], ": ")
		if key != name || strings.Contains(value, ": ") || strings.Contains(value, " #") ||
			!regexp.MustCompile(`^[A-Za-z]`).MatchString(value) {
			t.Errorf("%q", lines[i])
		}
	}
	if got := frontMatterOf(text); got.Name != "vitrine" || len(got.Description) < 100 || len(got.Description) > 1024 {
		t.Errorf("%+v, want the name vitrine and 100 to 1024 characters", got)
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
	head := frontMatterOf(text)
	want, _ := json.Marshal(map[string]any{
		"uri":         skillURI,
		"frontmatter": map[string]any{"name": head.Name, "description": head.Description},
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
