package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// bundles makes a bundle of two parts, at the second attempt, and gives one up.
func (h *harness) bundles(t *testing.T, g *wire.Agent) {
	t.Helper()
	large := wire.File{Path: "large.bin", Body: bytes.Repeat([]byte("large"), 9*limits.MiB/5)}
	published, err1 := g.PublishFiles(t.Context(), "Large", "", large)
	gone, err2 := g.PublishFiles(t.Context(), "Gone", "", wire.File{Path: "index.html", Body: []byte("gone")})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	h.ok(t, g, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(gone.ArtifactID), nil, "Idempotency-Key", wire.NewKey())
	h.fails = func(input any) bool { _, part := input.(*s3.UploadPartInput); return part }
	if err := h.bundler.Run(t.Context()); err == nil {
		t.Error("an upload that breaks off is not reported")
	}
	h.fails = nil
	h.clock.passed.Store(int64(limits.MinRetry))
	if err := h.bundler.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	view, err := g.AgentView(t.Context(), published.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	h.ok(t, h.anyone, "GET", view.Bundle.URL, nil)
	h.ok(t, h.anyone, "HEAD", view.Bundle.URL, nil)
}

// exports makes an export of a workspace with an access link, at the second attempt.
func (h *harness) exports(t *testing.T, m *wire.Agent, key string) {
	t.Helper()
	g := *m
	g.Key = key
	large := wire.File{Path: "large.bin", Body: bytes.Repeat([]byte("large"), 9*limits.MiB/5)}
	p, err := g.PublishFiles(t.Context(), "Large", "", large)
	if err != nil {
		t.Fatal(err)
	}
	ask[any](t, &g, "POST", "/v1/artifacts/"+string(p.ArtifactID)+"/access-links", contract.CreateLink{Type: "share"},
		"Idempotency-Key", wire.NewKey())
	if err := h.bundler.Run(t.Context()); err != nil { // its bundle
		t.Fatal(err)
	}
	const path = "/v1/web/workspace/export"
	ask[any](t, m, "POST", path, nil, "Idempotency-Key", wire.NewKey())
	h.fails = func(input any) bool { _, part := input.(*s3.UploadPartInput); return part }
	if err := h.bundler.Run(t.Context()); err == nil {
		t.Error("an export that breaks off is not reported")
	}
	h.fails = nil
	h.clock.passed.Add(int64(limits.MinRetry))
	if err := h.bundler.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := ask[contract.ExportStatus](t, m, "GET", path, nil).Export
	if e == nil || e.Status != "ready" || e.Volumes[0].URL == nil {
		t.Fatalf("%+v, want it ready, with a URL", e)
	}
	h.ok(t, h.anyone, "GET", *e.Volumes[0].URL, nil)
	h.ok(t, h.anyone, "HEAD", *e.Volumes[0].URL, nil)
}
