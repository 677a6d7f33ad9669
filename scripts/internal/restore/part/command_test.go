package part

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
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
	m := Machine{Data: data, Copy: c}
	var is artifact.Status
	harness.NoError(t, copies.Reach(ctx, data, 0, func(e *engines.Engines, _ bool) error {
		a, err := Restore{To: m.deployment(e)}.to().Artifacts.Artifact(ctx, p.ArtifactID)
		if err == nil {
			is = a.Status
		}
		return err
	}))
	return is
}

func TestTheCommandPutsBackWhereNoStackRuns(t *testing.T) {
	t.Parallel()
	data, c, p := stopped(t)
	for _, tt := range []struct {
		plan bool
		want artifact.Status
		says string
	}{
		{true, artifact.Deleted, "are put back"},
		{false, artifact.Live, "is back"},
		{false, artifact.Live, "was put back already"},
	} {
		var out bytes.Buffer
		of := Part{Artifact: p.ArtifactID, Plan: tt.plan}
		harness.NoError(t, of.OnMachine(ctx, Machine{Copy: c, Data: data, Out: &out}))
		if is := state(t, data, c, p); is != tt.want || !strings.Contains(out.String(), tt.says) {
			t.Errorf("it is %s, want %s, and says %s", is, tt.want, out.String())
		}
	}
}
