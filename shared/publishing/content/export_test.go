package content

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// fakeExports has one workspace with one export.
type fakeExports struct {
	export    *export.Export
	workspace *workspace.Workspace
	err       error
	reads     int
}

func (f *fakeExports) Export(context.Context, id.Workspace) (*export.Export, error) {
	f.reads++
	return f.export, f.err
}

func (f *fakeExports) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return f.workspace, f.err
}

// exportEnv has an export of two archives that is ready, and a token for the second one.
type exportEnv struct {
	*env
	exports *fakeExports
	claims  token.ExportClaims
}

func newExportEnv(t *testing.T) *exportEnv {
	t.Helper()
	e := &exportEnv{env: newEnv(t)}
	w := workspace.Workspace{ID: e.env.claims.Workspace, ClaimedAt: now}
	e.exports = &fakeExports{workspace: &w, export: &export.Export{
		ID:        id.NewExport(),
		Workspace: w.ID,
		Status:    export.Ready,
		CreatedAt: now.Add(-time.Hour),
		ExpiresAt: now.Add(time.Minute),
		Volumes:   []export.Volume{{Size: 1}, {Size: int64(len(text)), SHA256: tree.DigestOf(text)}},
	}}
	e.Exports = e.exports
	e.claims = token.ExportClaims{
		Expires:   now.Add(time.Hour),
		Workspace: w.ID,
		Export:    e.exports.export.ID,
		Volume:    2,
	}
	return e
}

func (e *exportEnv) find(t *testing.T) (File, error) {
	t.Helper()
	minted, err := e.ExportTokens.MintExport(e.claims)
	expect.OK(t, err)
	return e.FindExport(t.Context(), minted)
}

func TestATokenOpensItsArchiveOfAnExport(t *testing.T) {
	e := newExportEnv(t)
	f, err := e.find(t)
	expect.Code(t, err, "")
	if !f.Bundle || f.Path != "vitrine-export-2026-11-22-2-of-2.zip" || f.Size != int64(len(text)) || !f.NoIndex ||
		f.SHA256 != tree.DigestOf(text) || f.MaxAge != 0 {
		t.Errorf("%+v, want the second volume, not cached", f)
	}
	body, err := e.Open(t.Context(), f, netip.Addr{}, 2, 5)
	expect.Code(t, err, "")
	defer body.Close()
	want := export.Object{Workspace: e.claims.Workspace, Export: e.claims.Export, Volume: 2}
	if e.bytes.exported != want || e.bytes.offset != 2 || e.bytes.size != 5 {
		t.Errorf("%+v, want five bytes of %+v", e.bytes, want)
	}
}

func TestAnArchiveOfAnExportIsClosedAtOnce(t *testing.T) {
	status := func(s export.Status) func(*exportEnv) { return func(e *exportEnv) { e.exports.export.Status = s } }
	for name, c := range map[string]struct {
		set  func(*exportEnv)
		want fault.Code
	}{
		"that is ready":                     {func(*exportEnv) {}, ""},
		"that is made":                      {status(export.Pending), fault.NotFound},
		"that failed":                       {status(export.Failed), fault.NotFound},
		"that expired":                      {status(export.Expired), fault.NotFound},
		"whose time is over in this moment": {func(e *exportEnv) { e.exports.export.ExpiresAt = now }, fault.NotFound},
		"that was replaced":                 {func(e *exportEnv) { e.exports.export.ID = id.NewExport() }, fault.NotFound},
		"that has fewer archives":           {func(e *exportEnv) { e.claims.Volume = 3 }, fault.NotFound},
		"that ended before its time":        {func(e *exportEnv) { e.exports.export.Reason = export.Withdrawn }, fault.NotFound},
		"that is none":                      {func(e *exportEnv) { e.exports.export = nil }, fault.NotFound},
		"of a workspace that is locked":     {func(e *exportEnv) { e.exports.workspace.Lock = "lkd" }, fault.NotFound},
		"of a workspace that is gone":       {func(e *exportEnv) { e.exports.workspace = nil }, fault.NotFound},
		"with a token that has expired":     {func(e *exportEnv) { e.claims.Expires = now }, fault.NotFound},
		"that cannot be looked up": {
			func(e *exportEnv) { e.exports.err = fault.NewCode(fault.DatabaseUnavailable) }, fault.DatabaseUnavailable,
		},
		"above the limit of reads": {func(e *exportEnv) { e.counters.Full = true }, fault.RateLimitedArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExportEnv(t)
			c.set(e)
			_, err := e.find(t)
			expect.Code(t, err, c.want)
		})
	}
}

func TestT02ATokenForSomethingElseOpensNoExport(t *testing.T) {
	e := newExportEnv(t)
	for _, codec := range []*token.Codec{e.Tokens, e.Bundles} {
		minted, err := codec.Mint(e.env.claims)
		expect.OK(t, err)
		_, err = e.FindExport(t.Context(), minted)
		expect.Code(t, err, fault.NotFound)
	}
	exported, err := e.ExportTokens.MintExport(e.claims)
	expect.OK(t, err)
	_, err = e.Find(t.Context(), exported, "a/b.txt")
	expect.Code(t, err, fault.NotFound)
	_, err = e.FindBundle(t.Context(), exported)
	expect.Code(t, err, fault.NotFound)
	if e.exports.reads+e.store.states > 0 {
		t.Error("a token for something else costs a read")
	}
}
