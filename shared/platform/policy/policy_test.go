package policy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/policy"
)

const docs = "../../../docs/"

// own is a deployment with hosts.
var own = policy.Deployment{Hosts: []string{"app.example.org", "files.example.net"}}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return expect.Value(jsonschema.NewCompiler().Compile(docs + "policy.schema.json"))(t)
}

func judge(t *testing.T, s *jsonschema.Schema, file []byte) error {
	t.Helper()
	return s.Validate(expect.Value(jsonschema.UnmarshalJSON(bytes.NewReader(file)))(t))
}

func TestTheExamplesAreRight(t *testing.T) {
	files := expect.Value(filepath.Glob(docs + "policies/*.json"))(t)
	if len(files) != 3 {
		t.Fatalf("there are %d examples, want 3", len(files))
	}
	s := schema(t)
	for _, file := range files {
		p, err := policy.Load(file, own)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for _, text := range [][]byte{p.File, expect.Value(os.ReadFile(file))(t)} {
			if err := judge(t, s, text); err != nil {
				t.Errorf("%s: the schema says %v", file, err)
			}
		}
	}
}

// wrong are files that the schema refuses, too, with the start of what the reader says.
var wrong = []struct{ file, want string }{
	{`[]`, `the policy: []: is no object`},
	{`{"member": {}}`, `member: {}: there is no such member; there are $schema, agents, anonymous,`},
	{`{"members": 5}`, `members: 5: is no object`},
	{`{"members": {"File_Bytes": 5}}`, `members.File_Bytes: 5: there is no such member; there are artifact_bytes,`},
	{`{"members": {"file_bytes": 0}}`, `members.file_bytes: 0: must be a whole number from 1 to 188743680`},
	{`{"members": {"file_bytes": 188743681}}`, `members.file_bytes: 188743681: must be a whole number from 1 to`},
	{`{"members": {"file_bytes": "10MB"}}`, `members.file_bytes: "10MB": must be a whole number from 1 to 188743680`},
	{`{"members": {"file_bytes": null}}`, `members.file_bytes: null: must be a whole number from 1 to 188743680`},
	{`{"members": {"artifact_bytes": 1073741825}}`, `members.artifact_bytes: 1073741825: must be a whole number`},
	{`{"members": {"files": 2001}}`, `members.files: 2001: must be a whole number from 1 to 2000`},
	{`{"members": {"max_days": 0}}`, `members.max_days: 0: must be a whole number from 1 to 3650, or "forever"`},
	{`{"members": {"default_days": "for ever"}}`, `members.default_days: "for ever": must be a whole`},
	{`{"members": {"pinned_artifacts": 10001}}`, `members.pinned_artifacts: 10001: must be a whole number from 0 to`},
	{`{"paid": {"revisions": 1.5}}`, `paid.revisions: 1.5: must be a whole number from 1 to 1000`},
	{`{"paid": {"scripts": "ask"}}`, `paid.scripts: "ask": must be "on" or "off"`},
	{`{"anonymous": {"scripts": "yes"}}`, `anonymous.scripts: "yes": must be "on" or "ask" or "off"`},
	{`{"anonymous": "on"}`, `anonymous: "on": must be "off"`},
	{`{"anonymous": {"max_days": 8}}`, `anonymous.max_days: 8: must not be above the life of an unclaimed workspace's key`},
	{`{"anonymous": {"per_minute": 0}}`, `anonymous.per_minute: 0: must be a whole number from 1 to 100`},
	{`{"sign_in": "nobody"}`, `sign_in: "nobody": must be "anybody" or "operators"`},
	{`{"sign_in": {}}`, `sign_in: {}: names nobody; give domains or addresses, or "anybody"`},
	{`{"sign_in": {"domains": []}}`, `sign_in.domains: []: must be a list of 1 to 200 texts`},
	{`{"sign_in": {"domains": ["localhost"]}}`, `sign_in.domains[0]: "localhost": must be the domain of e-mail`},
	{`{"sign_in": {"addresses": ["ada"]}}`, `sign_in.addresses[0]: "ada": must be an e-mail address`},
	{`{"agents": true}`, `agents: true: must be "on" or "off"`},
	{`{"loads_from": "all"}`, `loads_from: "all": is no object`},
	{`{"loads_from": {"scripts": ["http://cdn.example.com"]}}`, `loads_from.scripts[0]: "http://cdn.example.com": `},
	{`{"loads_from": {"fonts": ["cdn.example.com/fonts; x"]}}`, `loads_from.fonts[0]: "cdn.example.com/fonts; x": `},
	{`{"brand": {"name": ""}}`, `brand.name: "": must have 1 to 30 characters`},
	{`{"brand": {"name": "<b>Acme</b>"}}`, `brand.name: "<b>Acme</b>": must have 1 to 30 characters, without < > "`},
	{`{"brand": {"accent": "red"}}`, `brand.accent: "red": must be a colour such as "#1f6feb"`},
	{`{"brand": {"contact": "javascript:alert(1)"}}`, `brand.contact: "javascript:alert(1)": must be a mailto or https`},
	{`{"brand": {"terms": "http://example.com"}}`, `brand.terms: "http://example.com": must be a https URL`},
	{`{"client_documents": "auto"}`, `client_documents: "auto": must be "on" or "off"`},
}

func TestTheSchemaAndTheReaderRefuseTheSameFiles(t *testing.T) {
	s := schema(t)
	for _, w := range wrong {
		if err := judge(t, s, []byte(w.file)); err == nil {
			t.Errorf("the schema takes %s", w.file)
		}
		wantMistakes(t, w.file, w.want)
	}
}

// wantMistakes holds that the reader finds exactly the mistakes whose starts are given, one a line.
func wantMistakes(t *testing.T, file string, want ...string) {
	t.Helper()
	_, err := policy.Read([]byte(file), own)
	if err == nil {
		t.Errorf("Read(%.60s) finds no mistake", file)
		return
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Errorf("Read(%.60s) finds %d mistakes, want %d:\n%v", file, len(lines), len(want), err)
		return
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("Read(%.60s) says %q, want %q…", file, lines[i], want[i])
		}
	}
}

func TestWhatASchemaCannotSayIsRefused(t *testing.T) {
	for _, w := range []struct{ file, want string }{
		{`{"agents": "on", "agents": "off"}`, "the policy is no JSON, or has a member twice"},
		{`{"agents": "on"`, "the policy is no JSON, or has a member twice"},
		{`{"members": {"artifact_bytes": 10, "file_bytes": 11}}`,
			"members.file_bytes: 11: must not be above artifact_bytes, which is 10"},
		{`{"members": {"max_days": 7}}`, "members.default_days: 90: must not be above max_days, which is 7"},
		{`{"members": {"max_days": 7, "default_days": "forever"}}`,
			"members.default_days: forever: must not be above max_days, which is 7"},
		{`{"loads_from": {"images": ["app.example.org"]}}`,
			`loads_from.images[0]: "app.example.org": must not cover app.example.org, which is a host of this deployment`},
		{`{"loads_from": {"images": ["files.example.net:8443"]}}`, "loads_from.images[0]: "},
		{`{"loads_from": {"connect": ["https://*.example.net"]}}`,
			`loads_from.connect[0]: "https://*.example.net": must not cover files.example.net`},
		{`{"brand": {"accent": "#003366"}}`,
			`brand.accent: "#003366": has a contrast of 1.5 to the background #0d1412, and needs 3; `},
		{`{"brand": {"accent": "#FFD700"}}`,
			`brand.accent: "#FFD700": has a contrast of 1.2 to the background #edf0ee, and needs 3; `},
		{`{"brand": {"logo": "data:image/png;base64,!"}}`, "brand.logo: "},
		{`{"$schema": "` + strings.Repeat("x", policy.MaxBytes) + `"}`,
			"the policy has 32783 bytes with its logo, which are 15 more than the most, 32768"},
	} {
		wantMistakes(t, w.file, w.want)
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	wantMistakes(t, `{"agents": 1, "brand": {"name": 2}, "members": {"files": 0, "days": 3}, "x": 4}`,
		"agents: 1: ", "brand.name: 2: is no text", "members.days: 3: there is no", "members.files: 0: ", "x: 4: there is no")
}

func TestAMemberThatIsMissingHasItsDefault(t *testing.T) {
	p := expect.Value(policy.Read([]byte(`{"members": {"files": 7}, "loads_from": {"fonts": "none"}}`), own))(t)
	want := policy.Roomy()
	want.FileCount = 7
	if got := p.Tiers[limits.Free]; got != want {
		t.Errorf("members are %+v, want %+v", got, want)
	}
	if p.Loads.Fonts != nil || p.StaticLoads.Fonts != nil || !slices.Equal(p.Loads.Scripts, media.Running().Scripts) {
		t.Errorf("pages load from %+v", p.Loads)
	}
	if want := []string{"loads_from", "loads_from.fonts", "members", "members.files"}; !slices.Equal(p.Named, want) {
		t.Errorf("Named = %v, want %v", p.Named, want)
	}
	if !p.SignIn.Anybody() || !p.Anonymous || !p.Agents || !p.ReportAbuse || p.Brand.Name != policy.DefaultName {
		t.Errorf("the rest is %+v", p)
	}
}

func TestDefaultsDependOnBilling(t *testing.T) {
	with, without := policy.Default(true).Tiers[limits.Free], policy.Default(false).Tiers[limits.Free]
	if with != limits.Default().Tiers[limits.Free] {
		t.Errorf("with billing members have %+v", with)
	}
	if without.DefaultLife != 90*limits.Day || without.MaxLife != limits.Forever || without.FileSize != 50*limits.MiB ||
		without.ArtifactSize != 250*limits.MiB || without.FileCount != 1000 || without.LiveArtifacts != limits.MaxPins || without.NewArtifactsPerDay != 2000 || without.Reads != 6000 {
		t.Errorf("without billing members have %+v", without)
	}
}

func TestAShorterLifeShortensTheLeastOne(t *testing.T) {
	p := expect.Value(policy.Read([]byte(`{"members": {"default_days": 1, "max_days": 1}}`), own))(t)
	if got := p.Tiers[limits.Free]; got.MinLife != limits.Day || got.MaxLife != limits.Day {
		t.Errorf("lives are from %v to %v", got.MinLife, got.MaxLife)
	}
}

func TestPeopleAreNamedInOneSpelling(t *testing.T) {
	p := expect.Value(policy.Read([]byte(
		`{"sign_in": {"domains": ["BÜCHER.example"], "addresses": ["Ada.Byron@Example.COM"]}}`), own))(t)
	if got := p.SignIn; got.Domains[0] != "xn--bcher-kva.example" || got.Addresses[0] != "ada.byron@example.com" {
		t.Errorf("SignIn = %+v", got)
	}
}

func TestALogoComesInside(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	write("logo.svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`)
	write("large.png", strings.Repeat("x", policy.MaxLogo+3))
	packed := expect.Value(policy.Load(write("p.json", `{"brand": {"logo": "logo.svg"}}`), own))(t).File
	p := expect.Value(policy.Read(packed, own))(t)
	if p.Brand.Logo.Type != "image/svg+xml" || !bytes.Contains(p.Brand.Logo.Data, []byte("M0 0h8v8z")) {
		t.Errorf("the logo is %q", p.Brand.Logo.Data)
	}
	for logo, want := range map[string]string{
		"none.svg":  "none.svg: no such file",
		"large.png": "has 20483 bytes, 3 more than the most, 20480",
		"p.json":    "must be the path of an SVG or PNG file",
	} {
		_, err := policy.Load(write("q.json", `{"brand": {"logo": "`+logo+`"}}`), own)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", logo, err, want)
		}
	}
}

func TestForeverEndsNever(t *testing.T) {
	now := time.Date(2040, 2, 3, 0, 0, 0, 0, time.UTC)
	if got := limits.End(now, limits.Forever); !got.Equal(limits.Never) {
		t.Errorf("End(forever) = %v", got)
	}
	if got := limits.End(now, limits.Day); !got.Equal(now.Add(limits.Day)) {
		t.Errorf("End(day) = %v", got)
	}
}
