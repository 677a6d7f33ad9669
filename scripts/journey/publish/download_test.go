package publish

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// TestAZipIsDownloadedOnceItIsReady downloads what was published a moment ago, so that the command waits for the zip.
func TestAZipIsDownloadedOnceItIsReady(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.WithJobs, func(o *stack.Options) { o.Limits.Bundles = time.Second })
	g := d.NewAgent(t)
	files := map[string]string{"index.html": "<p>page</p>", "data/big.bin": string(harness.RandomBytes(1, 9*limits.MiB))}
	var sent []wire.File
	for path, body := range files {
		sent = append(sent, wire.File{Path: path, Body: []byte(body)})
	}
	p := harness.Must(g.PublishFiles(ctx, "Zipped", "", sent...))(t)
	to := filepath.Join(t.TempDir(), "out.zip")
	var said strings.Builder
	run := d.Command(t, t.TempDir(), "", "download", "--json", p.UnlistedURL, "--output", to)
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v %s", err, &said)
	}
	var told struct {
		RevisionID string `json:"revision_id"`
		SizeBytes  int64  `json:"size_bytes"`
	}
	harness.NoError(t, json.Unmarshal(out, &told))
	z := harness.Must(zip.OpenReader(to))(t)
	defer z.Close()
	for _, f := range z.File {
		r := harness.Must(f.Open())(t)
		if got := harness.Must(io.ReadAll(r))(t); string(got) != files[f.Name] {
			t.Errorf("%s has other bytes", f.Name)
		}
		r.Close()
	}
	info := harness.Must(os.Stat(to))(t)
	if len(z.File) != len(files) || told.SizeBytes != info.Size() || told.RevisionID != string(p.RevisionID) {
		t.Errorf("%d files, %d bytes, told %+v", len(z.File), info.Size(), told)
	}
}
