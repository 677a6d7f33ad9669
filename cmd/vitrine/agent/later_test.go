package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

func TestASecondDeploymentHasANameOfItsOwn(t *testing.T) {
	a, c := newAgents(t), client(t, cursor)
	before := tree(t, a.Home)
	second := Want{Server: "https://B.example:8443", URL: "https://mcp.b.example"}
	must(t, a.connect(t.Context(), c, remote))
	for range 2 {
		ch, err := a.Plan(c, second)
		must(t, err)
		if ch.Name != "vitrine-b-example-8443" {
			t.Errorf("it is called %s", ch.Name)
		}
		must(t, a.Write(t.Context(), ch))
	}
	if all, err := a.Records(second.Server, false); len(all) != 1 || err != nil {
		t.Errorf("%+v, %v", all, err)
	} else if _, err := a.Remove(t.Context(), all[0], nil); err != nil {
		t.Error(err)
	}
	_, err := a.disconnect(t.Context())
	must(t, err)
	wantTree(t, a, before)
}

func TestAnEntryThatWasThereBeforeStays(t *testing.T) {
	a, c := newAgents(t), client(t, cursor)
	write(t, c.File(a.Machine, false), `{"mcpServers": {"vitrine": {"url": "`+mcpURL+`/", "headers": {}}}}`, 0o600)
	before := tree(t, a.Home)
	ch, err := a.Plan(c, remote)
	must(t, err)
	if !ch.Known {
		t.Error("it is not known")
	}
	must(t, a.Write(t.Context(), ch))
	_, err = a.disconnect(t.Context())
	must(t, err)
	wantTree(t, a, before)
}

func TestWhatOthersHaveWrittenSinceStays(t *testing.T) {
	for name, test := range map[string]struct{ since, after, says string }{
		"another server": {
			since: `{"mcpServers": {"other": {}, "vitrine": {"url": "` + mcpURL + `"}}}`,
			after: `{"mcpServers": {"other": {}}}`,
		},
		"keys in our entry": {since: `{"mcpServers": {"vitrine": {"trust": true, "url": "` + mcpURL + `/"}}}`},
		"another address": {
			since: `{"mcpServers": {"vitrine": {"url": "https://o.test"}}}`,
			after: `{"mcpServers": {"vitrine": {"url": "https://o.test"}}}`,
			says:  "was changed since, and stays",
		},
		"no entry":     {since: `{"mcpServers": {}}`, after: `{"mcpServers": {}}`},
		"half a file":  {since: `{"mcpServers": {`, after: `{"mcpServers": {`, says: "it is not JSON at"},
		"another file": {since: "", after: ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := newAgents(t), client(t, gemini)
			must(t, a.connect(t.Context(), c, remote))
			file := c.File(a.Machine, false)
			if write(t, file, test.since, 0o600); test.since == "" {
				must(t, os.Remove(file))
			}
			said, err := a.disconnect(t.Context())
			if err != nil {
				said = append(said, err.Error())
			}
			got, _ := os.ReadFile(file)
			if text := strings.Join(said, ""); string(got) != test.after || !strings.Contains(text, test.says) ||
				test.says == "" && text != "" || exists(file) != (test.after != "") {
				t.Errorf("said %q, left %s", said, got)
			}
			if exists(a.recordPath()) != (err != nil) {
				t.Errorf("records are there: %v", exists(a.recordPath()))
			}
		})
	}
}

func TestAFileThatAnotherProgramWritesIsNotReplaced(t *testing.T) {
	for before, theirs := range map[string]string{"": "{}", "{}": `{"theirs": 1}`} {
		a, c := newAgents(t), client(t, cursor)
		file := c.File(a.Machine, false)
		if before != "" {
			write(t, file, before, 0o600)
		}
		ch, err := a.Plan(c, remote)
		must(t, err)
		a.hook = func() error {
			if exists(a.recordPath()) {
				write(t, file, theirs, 0o600)
			}
			return nil
		}
		if f := failure.Of(a.Write(t.Context(), ch)); !strings.Contains(f.Message, "another program is just writing it") {
			t.Error(f)
		}
		a.hook = nil
		if got, _ := os.ReadFile(file); string(got) != theirs {
			t.Errorf("it is %s", got)
		}
		must(t, a.connect(t.Context(), c, remote))
		_, err = a.disconnect(t.Context())
		must(t, err)
		if got, _ := os.ReadFile(file); string(got) != theirs {
			t.Errorf("it is %s", got)
		}
	}
}

func TestRecordsThatCannotBeReadStopBothCommands(t *testing.T) {
	a := newAgents(t)
	write(t, a.recordPath(), "{", 0o600)
	before := tree(t, a.Home)
	err := a.connect(t.Context(), client(t, cursor), remote)
	if err == nil || !strings.Contains(err.Error(), "is not a file of records") {
		t.Error(err)
	}
	if _, err := a.disconnect(t.Context()); err == nil {
		t.Error("disconnect goes on")
	}
	wantTree(t, a, before)
}

func TestTheSkillOfAnotherStays(t *testing.T) {
	for name, test := range map[string]struct {
		there  string
		claude bool
		exit   failure.Exit
	}{
		"none":          {},
		"Claude Code":   {claude: true},
		"the same text": {there: "skill"},
		"another":       {there: "mine", exit: failure.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgents(t)
			file := filepath.Join(a.Dir, ".agents", "skills", "vitrine", "SKILL.md")
			if test.there != "" {
				write(t, file, test.there, 0o600)
			}
			if test.claude {
				must(t, os.Mkdir(filepath.Join(a.Home, ".claude"), 0o755))
			}
			before := tree(t, a.Home)
			_, err := a.WriteSkill([]byte("skill"), true)
			if err != nil && failure.Of(err).Exit != test.exit || err == nil && test.exit != 0 {
				t.Error(err)
			}
			got, err := os.ReadFile(filepath.Join(a.Dir, filepath.FromSlash(SkillLink), "SKILL.md"))
			if (err == nil) != test.claude || test.claude && string(got) != "skill" {
				t.Errorf("Claude Code finds %q, %v", got, err)
			}
			_, err = a.RemoveSkill(true)
			must(t, err)
			wantTree(t, a, before)
		})
	}
}
