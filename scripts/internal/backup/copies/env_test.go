package copies_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/shared/adapter/dynamo"
)

// env is a deployment whose engines keep their data in a folder, and a folder for its copies.
type env struct {
	*harness.Env
	options copies.Options
}

func newEnv(t *testing.T) *env {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	e, err := engines.Start(context.Background(), engines.Options{Dir: data, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	at := time.Now()
	d := &env{Env: harness.NewEnv(t, func(o *stack.Options) { o.Engines, o.Data = e, data })}
	d.options = copies.Options{
		Data:    data,
		To:      filepath.Join(t.TempDir(), "copies"),
		Engines: e,
		Tables:  dynamo.Named(d.Options.Tables),
		Out:     t.Output(),
		Now: func() time.Time { // no two copies are of one second
			at = at.Add(time.Second)
			return at
		},
	}
	return d
}

func (d *env) take(t *testing.T) copies.Copy {
	t.Helper()
	c, err := copies.Take(t.Context(), d.options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inode returns what two names of one file have in common.
func inode(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
