package publish

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// download runs vitrine download --json in a folder of its own and returns what it prints and what it says.
func download(t *testing.T, d *harness.Env, args ...string) (out, said string, err error) {
	t.Helper()
	home := t.TempDir()
	c := exec.CommandContext(t.Context(), harness.Must(program())(t), append([]string{"download", "--json"}, args...)...)
	c.Env = append(os.Environ(), "VITRINE_URL="+d.Origins.API, "XDG_CONFIG_HOME="+home, "HOME="+home,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere")
	c.Dir = home
	printed, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		said = string(failed.Stderr)
	}
	return string(printed), said, err
}

// TestAZipIsDownloadedOnceItIsReady downloads what was published a moment ago, so that the command waits for the zip.
func TestAZipIsDownloadedOnceItIsReady(t *testing.T) {
	d := harness.NewEnv(t, harness.WithJobs, func(o *stack.Options) { o.Limits.Bundles = time.Second })
	g := d.NewAgent(t)
	files := map[string]string{"index.html": "<p>page</p>", "data/big.bin": string(harness.RandomBytes(1, 9*limits.MiB))}
	var sent []wire.File
	for path, body := range files {
		sent = append(sent, wire.File{Path: path, Body: []byte(body)})
	}
	p := harness.Must(g.PublishFiles(ctx, "Zipped", "", sent...))(t)
	to := filepath.Join(t.TempDir(), "out.zip")
	out, said, err := download(t, d, p.UnlistedURL, "--output", to)
	if err != nil {
		t.Fatalf("%v %s", err, said)
	}
	var told struct {
		RevisionID string `json:"revision_id"`
		SizeBytes  int64  `json:"size_bytes"`
	}
	harness.NoError(t, json.Unmarshal([]byte(out), &told))
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

func TestADeploymentWithoutBundlesSaysHowFilesAreFetched(t *testing.T) {
	d := harness.NewEnv(t, harness.WithJobs, func(o *stack.Options) { o.Limits.Bundles = 0 })
	p := harness.PublishPage(t, d.NewAgent(t), "single")
	if p.Bundle.Status != "disabled" {
		t.Errorf("publish answers %+v", p.Bundle)
	}
	_, said, err := download(t, d, p.UnlistedURL)
	if err == nil || !strings.Contains(said, "vitrine pull") {
		t.Errorf("%v: %s", err, said)
	}
}
