package manual_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/policy"
)

var update = flag.Bool("update", false, "write the skill of the repository anew")

// repositorySkill is the copy of the skill that belongs to no deployment.
const repositorySkill = "../../../skills/vitrine/SKILL.md"

// deployment returns one with the published numbers, and hosts.
func deployment() manual.Deployment {
	numbers := limits.Default()
	p := policy.Default(true)
	p.Tiers = numbers.Tiers
	return manual.Deployment{
		Origins: address.Origins{
			API:     "https://api.test",
			Upload:  "https://upload.test",
			Content: "https://content.test",
			App:     "https://app.test",
			MCP:     "https://mcp.test",
		},
		Policy: p,
		Limits: &numbers,
	}
}

// textsOf returns the documents of a deployment by path. The archive is left out, because it holds the skill.
func textsOf(d manual.Deployment) map[string]string {
	texts := map[string]string{}
	for path, document := range manual.New(d).Documents() {
		if !strings.HasSuffix(path, ".zip") {
			texts[path] = document.Body
		}
	}
	return texts
}

func TestTheTextsSpeakOfThisDeployment(t *testing.T) {
	for path, text := range textsOf(deployment()) {
		expect.Lacks(t, path, text, "{{", "}}", "VITRINE_URL", "APP_URL", "%!")
		if path == "/.well-known/agent-skills/index.json" {
			continue
		}
		expect.Has(t, path, text, "https://app.test", "https://api.test", "https://upload.test", "https://mcp.test",
			"100 files, 10 MiB a file, 25 MiB an artifact, 100 new artifacts a day, 100 revisions of an artifact, ",
			"120 calls a minute.",
			"Without an account: 100 files, 10 MiB a file, 25 MiB an artifact, 20 new artifacts a day, ",
			"the header `Vitrine-Skill`")
	}
	expect.Has(t, "the skill", manual.New(deployment()).Skill,
		"https://app.test/v/", "Files come from https://content.test.", "at most 4 MiB", "at most 160 characters",
		"work for 15 minutes", "within 24 hours", "3 days after it was made", "ends 24 hours after it was last published",
		"markdown is shown as a page", "the first 100 if", "curl -fsSL https://app.test/install.sh | sh",
		"run `vitrine config set url https://api.test`")
}

func TestTheSkillIsShort(t *testing.T) {
	for _, d := range []manual.Deployment{deployment(), manual.Anywhere()} {
		text := manual.New(d).Skill
		if lines, words := strings.Count(text, "\n"), len(strings.Fields(text)); lines > 120 || words > 2500 {
			t.Errorf("%d lines and %d words", lines, words)
		}
	}
}

// TestTheSkillOfTheRepositoryIsTheNewest compares the file with the text. It is written anew by:
//
//	go test ./shared/platform/manual -run Repository -update
func TestTheSkillOfTheRepositoryIsTheNewest(t *testing.T) {
	want := manual.New(manual.Anywhere()).Skill
	if *update {
		expect.OK(t, os.WriteFile(repositorySkill, []byte(want), 0o644))
	}
	if got := expect.Value(os.ReadFile(repositorySkill))(t); string(got) != want {
		t.Errorf("%s is not what the code says: run the test with -update", repositorySkill)
	}
	expect.Has(t, "the file", want, "ask the person for it", "$VITRINE_URL/skill.md", "curl -fsSL APP_URL/install.sh | sh",
		"It asks the server that VITRINE_URL names.", "Limits of a deployment that sets none: 1000 files, 50 MiB a file, ")
	expect.Lacks(t, "the file", want, "{{", "http://", "https://")
}

// TestAChangedNumberChangesEachText changes one number at a time.
func TestAChangedNumberChangesEachText(t *testing.T) {
	member := func(change func(*limits.Policy)) func(*manual.Deployment) {
		return func(d *manual.Deployment) {
			p := d.Limits.Tiers[limits.Free]
			change(&p)
			d.Limits.Tiers[limits.Free] = p
		}
	}
	for name, change := range map[string]func(*manual.Deployment){
		"the size of a file":          member(func(p *limits.Policy) { p.FileSize++ }),
		"the size of an artifact":     member(func(p *limits.Policy) { p.ArtifactSize++ }),
		"the number of files":         member(func(p *limits.Policy) { p.FileCount++ }),
		"the new artifacts of a day":  member(func(p *limits.Policy) { p.NewArtifactsPerDay++ }),
		"the revisions":               member(func(p *limits.Policy) { p.Revisions++ }),
		"the calls":                   func(d *manual.Deployment) { d.Limits.Actor.Limit++ },
		"the numbers without account": func(d *manual.Deployment) { d.Limits.Tiers[limits.Ephemeral] = limits.Policy{} },
		"the host":                    func(d *manual.Deployment) { d.Origins.App = "https://other.test" },
		"the accounts":                func(d *manual.Deployment) { d.Policy.Anonymous = false },
	} {
		for where, make := range map[string]func() manual.Deployment{"here": deployment, "anywhere": manual.Anywhere} {
			d := make()
			before := textsOf(d)
			change(&d)
			after := textsOf(d)
			for _, path := range manual.Paths() {
				if before[path] != "" && before[path] == after[path] {
					t.Errorf("%s, %s: %s stays the same", where, name, path)
				}
			}
		}
	}
}

func TestAChangedLifeChangesTheSkill(t *testing.T) {
	for _, tier := range []limits.Tier{limits.Free, limits.Ephemeral} {
		d := deployment()
		before := manual.New(d)
		p := d.Limits.Tiers[tier]
		p.DefaultLife += 3 * limits.Day
		d.Limits.Tiers[tier] = p
		if after := manual.New(d); after.Skill == before.Skill || after.Version() == before.Version() {
			t.Errorf("another life of artifacts of the tier %s changes nothing", tier)
		}
	}
}

func TestTheSkillSaysWhatWorksAtAnOriginOfItsOwn(t *testing.T) {
	d := deployment()
	shared := manual.New(d).Skill
	d.Origins.Own = "https://*.content.test"
	own := manual.New(d).Skill
	expect.Has(t, "the skill", own, "paths from the root lead to its files", "`--app`", "IndexedDB")
	expect.Lacks(t, "the skill", own, "There are no frames inside", "by relative paths.")
	expect.Lacks(t, "the skill of a shared origin", shared, "IndexedDB", "`--app`")
}

func TestTheSkillHasTheNumbersOfTheDeployment(t *testing.T) {
	d := deployment()
	change := func(p limits.Policy) { d.Limits.Tiers[limits.Free] = p }
	p := d.Limits.Tiers[limits.Free]
	p.FileSize, p.ArtifactSize, p.FileCount, p.MaxLife = 512<<10, 1_000_000, 7, limits.Forever
	p.NewArtifactsPerDay, p.Revisions = 3, 9
	change(p)
	expect.Has(t, "the skill", manual.New(d).Skill, "at most 512 KiB",
		"7 files, 512 KiB a file, 1000000 bytes an artifact", "3 new artifacts", "9 revisions",
		"3 days after it was made unless the workspace chose otherwise. "+
			"`expires_at` is in the year 2100 for what does not expire. New")
	p.FileSize, p.DefaultLife = 50*limits.MiB, limits.Forever
	for scripts, want := range map[limits.Scripts]string{
		limits.ScriptsOn:  "- Scripts run in the Vitrine page, inline or from a file of the artifact. They do",
		limits.ScriptsAsk: "- Scripts run for a reader who asks for them, in the Vitrine page, inline",
		limits.ScriptsOff: "- Scripts do not run. Show everything without them.\n",
	} {
		p.Scripts = scripts
		change(p)
		expect.Has(t, "the skill", manual.New(d).Skill, want)
	}
	expect.Has(t, "the skill", manual.New(d).Skill, "The body has at most 4 MiB.", "50 MiB a file",
		"Artifacts do not expire unless the workspace chose otherwise. `expires_at` is in")
}

// TestTheTextsFollowThePolicy also holds that they name nobody whom the policy lets in.
func TestTheTextsFollowThePolicy(t *testing.T) {
	d := deployment()
	d.Policy.Anonymous = false
	d.Policy.SignIn = policy.SignIn{Domains: []string{"harbour.example"}, Addresses: []string{"lin@secret.example"}}
	d.Policy.Brand.Name = "Harbour files"
	for path, text := range textsOf(d) {
		expect.Lacks(t, path, text, "--ephemeral", "Without an account", "harbour.example", "secret.example")
		if !strings.HasSuffix(path, ".json") {
			expect.Has(t, path, text, "# Harbour files", "Harbour files keeps files", "Not everybody can sign in here")
		}
	}
	expect.Has(t, "the skill", manual.New(d).Skill, "Nobody publishes here without an account.")
	for path, text := range textsOf(deployment()) {
		expect.Lacks(t, path, text, "Nobody publishes", "Not everybody")
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
			d := deployment()
			d.Policy.Loads = c.from
			expect.Has(t, "the skill", manual.New(d).Skill, c.says...)
		})
	}
}

func TestTheFrontMatterIsPlainYAML(t *testing.T) {
	m := manual.New(deployment())
	head, _, ok := strings.Cut(strings.TrimPrefix(m.Skill, "---\n"), "\n---\n\n# ")
	if !ok || !strings.HasPrefix(m.Skill, "---\n") {
		t.Fatalf("%.300s", m.Skill)
	}
	var members map[string]any
	expect.OK(t, yaml.Unmarshal([]byte(head), &members))
	want := map[string]any{
		"name":        "vitrine",
		"description": m.Head.Description,
		"metadata":    map[string]any{"version": m.Version()},
	}
	if fmt.Sprint(members) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", members, want)
	}
	if n := len(m.Head.Description); n < 100 || n > 1024 {
		t.Errorf("the description has %d characters, want 100 to 1024", n)
	}
}

// TestTheVersionIsAHashOfTheRest lets whoever has a copy compute its version.
func TestTheVersionIsAHashOfTheRest(t *testing.T) {
	m := manual.New(deployment())
	rest := regexp.MustCompile(`metadata:\n  version: "[0-9a-f]{12}"\n`).ReplaceAllString(m.Skill, "")
	sum := sha256.Sum256([]byte(rest))
	if rest == m.Skill || m.Version() != hex.EncodeToString(sum[:])[:12] {
		t.Errorf("the version is %s, want that of\n%.300s", m.Version(), rest)
	}
	if again := manual.New(deployment()); again.Version() != m.Version() || again.Skill != m.Skill {
		t.Error("the same deployment has another text")
	}
}
