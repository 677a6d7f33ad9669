package machine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/port"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// env is a deployment in a data folder, and a restore of it.
type env struct {
	*harness.BackendEnv
	engines *engines.Engines
	living  string
	base    int
	said    bytes.Buffer
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{living: filepath.Join(t.TempDir(), "living"), base: port.Base(t)}
	t.Cleanup(func() { t.Log(e.said.String()) })
	e.run(t, e.living)
	expect.OK(t, os.WriteFile(filepath.Join(e.living, "lock"), fmtLock(e.base), 0o600))
	return e
}

// run starts engines and hosts on a data folder, always on the same ports.
func (e *env) run(t *testing.T, data string) {
	t.Helper()
	var err error
	e.engines, err = engines.Start(context.Background(), engines.Options{Dir: data, Own: true})
	expect.OK(t, err)
	t.Cleanup(func() { e.engines.Kill() })
	before := e.BackendEnv
	e.BackendEnv = harness.NewAgentAuthEnv(t, func(o *stack.Options) {
		o.Engines = e.engines
		o.Data = data
		o.Tables = "vitrine"
		o.BasePort = e.base
	})
	if before != nil {
		e.Clock.Advance(before.Clock.Now().Sub(e.Clock.Now()))
	}
}

// stop ends hosts and engines.
func (e *env) stop(t *testing.T) {
	t.Helper()
	expect.OK(t, e.Close(context.Background()), e.engines.Close())
}

// copy makes a copy of the running deployment, a minute after what was done before and a minute before what follows.
func (e *env) copy(t *testing.T) copies.Copy {
	t.Helper()
	e.Clock.Advance(time.Minute)
	c, err := copies.Take(t.Context(), copies.Options{
		Data:    e.living,
		To:      filepath.Join(t.TempDir(), "copies"),
		Engines: e.engines,
		Now:     e.Clock.Now,
		Out:     t.Output(),
	})
	expect.OK(t, err)
	e.Clock.Advance(time.Minute)
	return c
}

// restore returns a restore of a copy into a new folder.
func (e *env) restore(t *testing.T, c copies.Copy) Restore {
	t.Helper()
	return Restore{
		From:   c,
		Data:   filepath.Join(t.TempDir(), "new"),
		Living: e.living,
		Now:    e.Clock.Now,
		Out:    &e.said,
	}
}

// serve switches to a restore and starts hosts on it.
func (e *env) serve(t *testing.T, r Restore) {
	t.Helper()
	expect.OK(t, r.Switch(t.Context()))
	e.run(t, r.Data)
}

// person is somebody who signed in.
type person struct {
	cli       *wire.Agent // the command, signed in
	key       *wire.Agent // an API key
	workspace id.Workspace
}

// signIn signs a person in, who makes an API key.
func (e *env) signIn(t *testing.T) person {
	t.Helper()
	p := person{cli: e.WithBearer(e.SignedIn(t, "ada@example.org").CLIToken(t).AccessToken)}
	made := harness.Call[contract.CreatedKey](t, p.cli, 201, "POST", "/v1/web/keys",
		contract.CreateKey{Name: wire.NewKey()}, harness.KeyHeader()...)
	p.key = e.WithBearer(made.Secret)
	p.workspace = harness.Call[contract.Whoami](t, p.key, 200, "GET", "/v1/whoami", nil).Workspace.ID
	return p
}
