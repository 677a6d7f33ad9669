package part

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/artifact"
)

// stopped is a data folder on which no stack runs, and a copy of it from before an artifact was deleted.
func stopped(t *testing.T) (data string, c copies.Copy, p contract.Published) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	e := harness.Must(engines.Start(ctx, engines.Options{Dir: data, Own: true}))(t)
	env := harness.NewEnv(t, func(o *stack.Options) { o.Engines, o.Data = e, data })
	owner := env.NewAgent(t)
	p = harness.PublishPage(t, owner, "words")
	c = harness.Must(copies.Take(ctx, copies.Options{
		Data:    data,
		To:      filepath.Join(t.TempDir(), "copies"),
		Engines: e,
		Tables:  dynamo.Named(env.Options.Tables),
		Out:     t.Output(),
		Now:     time.Now,
	}))(t)
	harness.DeleteArtifact(t, owner, p.ArtifactID)
	closing, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	env.Close(closing)
	harness.NoError(t, e.Close())
	return data, c, p
}

// state reads the status of an artifact in a data folder.
func state(t *testing.T, data string, c copies.Copy, p contract.Published) artifact.Status {
	t.Helper()
	m := machine{Options: Options{Data: data}, copy: c}
	living, _, err := m.living(ctx)
	harness.NoError(t, err)
	a := harness.Must(Restore{To: m.deployment(living)}.to().Artifacts.Artifact(ctx, p.ArtifactID))(t)
	harness.NoError(t, m.close())
	return a.Status
}

func TestTheCommandPutsBackWhereNoStackRuns(t *testing.T) {
	t.Parallel()
	data, c, p := stopped(t)
	for _, tt := range []struct {
		args []string
		want artifact.Status
		says string
	}{
		{[]string{string(p.ArtifactID), "--from", c.Dir, "--data", data, "--plan"}, artifact.Deleted, "are put back"},
		{[]string{"--from", c.Dir, string(p.ArtifactID), "--data", data}, artifact.Live, "is back"},
		{[]string{"--from", c.Dir, string(p.ArtifactID), "--data", data}, artifact.Live, "was put back already"},
	} {
		var out bytes.Buffer
		o := harness.Must(Parse(ArtifactCommand, tt.args, os.Stderr))(t)
		harness.NoError(t, o.Run(ctx, &out))
		if is := state(t, data, c, p); is != tt.want || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%v: it is %s and says %s", tt.args, is, out.String())
		}
	}
}

func TestTheCommandUsesTheEnginesOfTheStackThatRuns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for base, want := range map[int]string{0: "does not tell its ports", 21_000: "http://127.0.0.1:21011"} {
		lock := harness.Must(folder.Take(data, folder.User{PID: os.Getpid(), Base: base}))(t)
		m := machine{Options: Options{Data: data}}
		e, alone, err := m.living(ctx)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && (e.DynamoDB != want || alone) {
			t.Errorf("%v, %v, want %s", e, err, want)
		}
		harness.NoError(t, lock.Release())
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	const known = "art_00000000000000000000000001"
	for line, want := range map[string]string{
		"artifact":                               "name one artifact",
		"artifact " + known:                      "name the copy that has it",
		"artifact " + known + " x --from c":      "name one artifact",
		"artifact rev_1 --from c":                `"rev_1" cannot be the id of the artifact`,
		"workspace " + known + " --from c":       `cannot be the id of the workspace`,
		"artifact " + known + " --fro c":         "usage",
		"artifact " + known + " --from c":        "",
		"artifact " + known + " --from c --plan": "",
		"artifact --data d --from c " + known:    "",

		"artifact " + known + " Trial --at 2026-01-31T10:00:00Z":          "",
		"artifact " + known + " Trial":                                    "name one artifact",
		"artifact " + known + " Trial --at noon":                          "usage",
		"artifact " + known + " Trial --at 2026-01-31T10:00:00Z --from c": "name one artifact",
		"artifact " + known + " --from c --at 2026-01-31T10:00:00Z":       "name one artifact",
	} {
		kind, rest, _ := strings.Cut(line, " ")
		_, err := Parse(kind, strings.Fields(rest), &bytes.Buffer{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
