package content_test

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// exports are those of an env.
type exports struct{ *env }

func (s exports) Export(context.Context, id.Workspace) (*export.Export, error) {
	return &s.exported, s.storeErr
}

func (s exports) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return s.state.Workspace, s.storeErr
}

func TestAnArchiveOfAnExportIsServedToSave(t *testing.T) {
	s := newEnv(t)
	s.archive = "PK\x03\x04 the archive"
	digest := tree.DigestOf(s.archive)
	s.exported = export.Export{
		ID:        id.NewExport(),
		Workspace: s.claims.Workspace,
		Status:    export.Ready,
		CreatedAt: s.now,
		ExpiresAt: s.now.Add(time.Hour),
		Volumes:   []export.Volume{{Size: int64(len(s.archive)), SHA256: digest}},
	}
	minted, err := s.exportTokens.MintExport(token.ExportClaims{
		Expires:   s.claims.Expires,
		Workspace: s.claims.Workspace,
		Export:    s.exported.ID,
		Volume:    1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "HEAD"} {
		w := s.ask(method, "/x/"+minted)
		for name, want := range map[string]string{
			"Content-Type":        "application/zip",
			"Content-Disposition": `attachment; filename="vitrine-export-2026-03-01.zip"`,
			"Etag":                `"` + digest.String() + `"`,
			"Repr-Digest":         "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":",
			"Cache-Control":       "private, no-cache",
			"Accept-Ranges":       "bytes",
			"X-Robots-Tag":        "noindex, nofollow",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %q, want %q", method, name, got, want)
			}
		}
		if want := map[string]string{"GET": s.archive}[method]; w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %q", method, w.Code, w.Body)
		}
	}
	if w := s.ask("GET", "/x/"+minted, "Range", "bytes=5-7"); w.Code != 206 || w.Body.String() != s.archive[5:8] {
		t.Errorf("a part: %d %q", w.Code, w.Body)
	}
	s.exported.Status = export.Expired
	if w := s.ask("GET", "/x/"+minted); w.Code != 404 {
		t.Errorf("one that expired: %d", w.Code)
	}
	if w := s.ask("GET", "/x/nonsense"); w.Code != 404 {
		t.Errorf("nonsense: %d", w.Code)
	}
}
