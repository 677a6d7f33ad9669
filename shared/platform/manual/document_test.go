package manual_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/manual"
)

func TestThereIsADocumentForEachPath(t *testing.T) {
	there := slices.Sorted(maps.Keys(manual.New(deployment()).Documents()))
	if want := slices.Sorted(slices.Values(manual.Paths())); !slices.Equal(there, want) || len(want) != 6 {
		t.Errorf("documents %q, paths %q", there, want)
	}
}

func TestTheArchiveHoldsTheSkillAndHasTheSameBytesEachTime(t *testing.T) {
	m := manual.New(deployment())
	raw := m.Documents()["/skills/vitrine.zip"].Body
	if raw != manual.New(deployment()).Documents()["/skills/vitrine.zip"].Body {
		t.Error("another archive of the same skill")
	}
	archive := expect.Value(zip.NewReader(strings.NewReader(raw), int64(len(raw))))(t)
	if len(archive.File) != 1 || archive.File[0].Name != "SKILL.md" || archive.File[0].Mode() != 0o644 ||
		archive.File[0].Modified.Year() != 1980 {
		t.Fatalf("%+v", archive.File)
	}
	file := expect.Value(archive.File[0].Open())(t)
	if text := expect.Value(io.ReadAll(file))(t); string(text) != m.Skill {
		t.Errorf("%.300s", text)
	}
}

func TestTheIndexNamesTheBytesOfTheSkill(t *testing.T) {
	documents := manual.New(deployment()).Documents()
	index := documents["/.well-known/agent-skills/index.json"]
	var got any
	expect.OK(t, json.Unmarshal([]byte(index.Body), &got))
	want := map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
		"skills": []any{map[string]any{
			"name":        "vitrine",
			"type":        "skill-md",
			"description": manual.New(deployment()).Head.Description,
			"url":         "/skill.md",
			"digest":      manual.Digest(documents["/skill.md"].Body),
		}},
	}
	one, two := expect.Value(json.Marshal(got))(t), expect.Value(json.Marshal(want))(t)
	if !bytes.Equal(one, two) {
		t.Errorf("%s, want %s", one, two)
	}
}

// TestTheTextsNameRoutesThatThereAre holds the requests in the texts against the documents of the hosts.
func TestTheTextsNameRoutesThatThereAre(t *testing.T) {
	routes := map[string]map[string]any{}
	for _, host := range []string{"api", "upload"} {
		var document struct{ Paths map[string]map[string]any }
		expect.OK(t, json.Unmarshal(expect.Value(os.ReadFile("../../../openapi/"+host+".json"))(t), &document))
		for path, methods := range document.Paths {
			routes["https://"+host+".test"+path] = methods
		}
	}
	variable := regexp.MustCompile(`\b[A-Z]+(_[A-Z]+)*_ID\b`)
	request := regexp.MustCompile("`?(POST )?(https://(?:api|upload)\\.test/[A-Za-z0-9/._-]+[A-Za-z0-9])")
	found := map[string]bool{}
	for path, text := range textsOf(deployment()) {
		for _, m := range request.FindAllStringSubmatch(text, -1) {
			at := variable.ReplaceAllStringFunc(m[2], func(name string) string { return "{" + strings.ToLower(name) + "}" })
			method := "get"
			if m[1] != "" {
				method = "post"
			}
			if found[at] = true; routes[at][method] == nil && !strings.HasSuffix(at, "/openapi.json") {
				t.Errorf("%s: no host has %s %s", path, method, at)
			}
		}
	}
	if len(found) < 7 {
		t.Errorf("only %d addresses were found", len(found))
	}
}

func TestTheSkillNamesCodesThatThereAre(t *testing.T) {
	known := map[string]bool{}
	for _, code := range fault.Codes() {
		known[string(code)] = true
	}
	row := regexp.MustCompile("(?m)^\\| (`[a-z_`, ]+`) \\| [A-Z]")
	rows := row.FindAllStringSubmatch(manual.New(deployment()).Skill, -1)
	if len(rows) < 9 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		for code := range strings.SplitSeq(row[1], ", ") {
			if !known[strings.Trim(code, "`")] {
				t.Errorf("there is no code %s", code)
			}
		}
	}
}
