package mcp

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestFilesAreReadAsResources reads text and other bytes of an artifact, in both ways in which the host runs.
func TestFilesAreReadAsResources(t *testing.T) {
	inBothWays(t, func(t *testing.T, p *harness.BackendEnv) {
		c, _ := connected(t, p)
		other, _ := connected(t, p)
		files := map[string][]byte{
			"index.html":     []byte(tides),
			"img/a b é?.png": append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0, 0xff}, 1<<20)...),
		}
		artifact := c.upload(t, files)
		at := "artifact://" + string(artifact)
		s := c.session(t, stateless)
		read := func(uri string) *mcp.ResourceContents {
			t.Helper()
			out := harness.Must(s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}))(t)
			return out.Contents[0]
		}
		if got := read(at + "/index.html"); got.Text != tides || got.MIMEType != "text/html; charset=utf-8" {
			t.Errorf("the page is %.200q, %s", got.Text, got.MIMEType)
		}
		if got := read(at + "/img/a%20b%20%C3%A9%3F.png"); !bytes.Equal(got.Blob, files["img/a b é?.png"]) {
			t.Errorf("the picture has %d bytes", len(got.Blob))
		}
		if got := read(at); !strings.Contains(got.Text, `"entrypoint":"index.html"`) {
			t.Errorf("the view is %s", got.Text)
		}
		c.unfound(t, at+"/other.html")
		other.unfound(t, at)
		other.unfound(t, at+"/index.html")
		call[contract.DeletedArtifact](t, c, "delete_artifact", map[string]any{"artifact_id": artifact})
		c.unfound(t, at)
		c.unfound(t, at+"/index.html")
	})
}

// upload publishes files through upload sessions.
func (c *rawClient) upload(t *testing.T, files map[string][]byte) string {
	t.Helper()
	var declared []map[string]any
	for path, body := range files {
		declared = append(declared, map[string]any{"path": path, "size_bytes": len(body), "sha256": wire.Digest(body)})
	}
	ready := call[contract.MCPUpload](t, c, "prepare_upload", map[string]any{"title": "Tides", "files": declared})
	for _, f := range ready.Files {
		target := contract.UploadTarget{PutURL: f.PutURL, RequiredHeaders: f.RequiredHeaders}
		if a := harness.Must(c.Anyone.Put(ctx, target, files[f.Path]))(t); a.Status != http.StatusOK {
			t.Fatalf("uploading %s answers %d", f.Path, a.Status)
		}
	}
	made := call[contract.MCPPublished](t, c, "publish_upload", map[string]any{"upload_session_id": ready.UploadSessionID})
	return string(made.ArtifactID)
}

// unfound reads a resource that the client cannot see.
func (c *rawClient) unfound(t *testing.T, uri string) {
	t.Helper()
	a := c.rpc(t, "resources/read", map[string]any{"uri": uri})
	if a.Status != http.StatusBadRequest || a.Error == nil || a.Error.Code != -32602 || a.Error.Data.Code != "not_found" {
		t.Errorf("%s answers %d %.300s", uri, a.Status, a.Body)
	}
}
