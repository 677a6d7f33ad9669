package publish

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/wire"
)

// resumable is a publish of a folder that is killed and repeated.
type resumable struct {
	env   *harness.BackendEnv
	proxy *killingProxy
	agent *wire.Agent // nil without an account
	args  []string
}

// resumedResult is what a publish says about itself.
type resumedResult struct {
	ArtifactID  string `json:"artifact_id"`
	RevisionID  string `json:"revision_id"`
	WorkspaceID string `json:"workspace_id"`
	Resumed     bool   `json:"resumed"`
	Stats       struct {
		Total    int `json:"total_files"`
		Uploaded int `json:"uploaded_files"`
		Reused   int `json:"reused_files"`
	} `json:"upload_stats"`
}

// run runs the command until it ends or is killed at a request.
func (r *resumable) run(t testing.TB, home string, at int, after bool) (*exec.Cmd, string, string) {
	t.Helper()
	key := ""
	if r.agent != nil {
		key = r.agent.Key
	}
	cmd := r.env.Command(t, home, key, append(r.args, "--json")...)
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env = append(cmd.Env, "VITRINE_URL="+r.proxy.address(r.env.Origins.API))
	r.proxy.aim(at, after)
	r.proxy.mu.Lock() // requests wait until the process is known
	err := cmd.Start()
	r.proxy.kill = func() { _ = cmd.Process.Kill() }
	r.proxy.mu.Unlock()
	harness.NoError(t, err)
	_ = cmd.Wait() // the exit code tells
	r.proxy.handles.Wait()
	return cmd, out.String(), said.String()
}

// finishes runs the command to its end and returns its result.
func (r *resumable) finishes(t testing.TB, home string) (result resumedResult, said string) {
	t.Helper()
	cmd, out, said := r.run(t, home, 0, false)
	if err := json.Unmarshal([]byte(out), &result); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Fatalf("exit %d, stdout %q, stderr %q", cmd.ProcessState.ExitCode(), out, said)
	}
	if left := harness.Must(filepath.Glob(filepath.Join(home, "vitrine", "publish", "*")))(t); len(left) > 0 {
		t.Errorf("the journal still has %q", left)
	}
	return result, said
}

// made counts the artifacts and the revisions of the deployment.
func (r *resumable) made(t testing.TB) (artifacts, revisions int) {
	t.Helper()
	for _, item := range r.env.Scan(t, r.env.Tables.Core) {
		pk, sk := harness.Text(item["pk"]), harness.Text(item["sk"])
		switch {
		case strings.HasPrefix(pk, "A#") && sk == "META":
			artifacts++
		case strings.HasPrefix(pk, "A#") && strings.HasPrefix(sk, "R#"):
			revisions++
		}
	}
	return artifacts, revisions
}

// killedAt kills the command at a request, runs it again, and checks that nothing was made or sent twice. newer is how
// many artifacts one publish makes.
func (r *resumable) killedAt(t *testing.T, home string, newer, at int, after bool) {
	t.Helper()
	artifacts, revisions := r.made(t)
	cmd, out, said := r.run(t, home, at, after)
	if cmd.ProcessState.Exited() || out != "" {
		t.Fatalf("it was not killed: stdout %q, stderr %q", out, said)
	}
	begun := slices.ContainsFunc(r.proxy.seen, isCreate)
	result, said := r.finishes(t, home)
	nowArtifacts, nowRevisions := r.made(t)
	if nowArtifacts != artifacts+newer || nowRevisions != revisions+1 {
		t.Errorf("%d artifacts and %d revisions were made", nowArtifacts-artifacts, nowRevisions-revisions)
	}
	if result.Resumed != begun || begun == !strings.Contains(said, "Continues the publish that was interrupted at ") {
		t.Errorf("resumed: %v, want %v, stderr %q", result.Resumed, begun, said)
	}
	if s := result.Stats; s.Uploaded+s.Reused != s.Total || s.Total != len(resumedSite) {
		t.Errorf("it sent %d and found %d of %d files", s.Uploaded, s.Reused, s.Total)
	}
}

func isCreate(request string) bool { return request == "POST /v1/upload-sessions" }

var resumedSite = map[string]string{"index.html": "<h1>One</h1>", "a.css": "a{}", "b.txt": "two", "empty.txt": ""}

// changeSite gives all files but the empty one new bytes, because the server knows those of earlier revisions.
func changeSite(t testing.TB, home string, n int) {
	t.Helper()
	changed := map[string]string{}
	for name, text := range resumedSite {
		if text != "" {
			changed[name] = fmt.Sprintf("%s %d", text, n)
		}
	}
	disk.Write(t, filepath.Join(home, "site"), changed)
}

// newResumables returns the kinds of publish: of a new artifact, of a revision, with a link, without an account.
func newResumables(t *testing.T, env *harness.BackendEnv) map[string]*resumable {
	t.Helper()
	g := env.NewAgent(t)
	old := harness.PublishPage(t, g, "first")
	kinds := map[string]*resumable{
		"a new artifact":     {agent: g, args: []string{"publish", "site"}},
		"a revision":         {agent: g, args: []string{"publish", "site", "--artifact-id", string(old.ArtifactID)}},
		"without an account": {args: []string{"publish", "site", "--ephemeral"}},
	}
	for _, r := range kinds {
		r.env, r.proxy = env, newKillingProxy(t)
	}
	return kinds
}

// TestAKilledPublishIsContinued kills the command before and after each of its requests, and runs it again.
func TestAKilledPublishIsContinued(t *testing.T) {
	t.Parallel()
	kinds := newResumables(t, harness.NewBackendEnv(t, harness.Unlimited))
	for name, r := range kinds {
		t.Run(name, func(t *testing.T) {
			home, newer := t.TempDir(), 1
			disk.Write(t, filepath.Join(home, "site"), resumedSite)
			r.finishes(t, home)
			requests := len(r.proxy.seen)
			if strings.Contains(name, "revision") {
				newer = 0
			}
			for at := 1; at <= requests; at++ {
				for _, after := range []bool{false, true} {
					changeSite(t, home, 2*at+map[bool]int{true: 1}[after])
					t.Run(fmt.Sprintf("request %d, after it: %v", at, after), func(t *testing.T) {
						r.killedAt(t, home, newer, at, after)
					})
				}
			}
		})
	}
}
