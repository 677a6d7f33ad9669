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
	home  string
	makes made

	changes int
}

// made counts artifacts, revisions and links.
type made struct{ artifacts, revisions, links int }

func (m made) minus(n made) made {
	return made{m.artifacts - n.artifacts, m.revisions - n.revisions, m.links - n.links}
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
func (r *resumable) run(t testing.TB, at int, after bool) (*exec.Cmd, string, string) {
	t.Helper()
	key := ""
	if r.agent != nil {
		key = r.agent.Key
	}
	cmd := r.env.Command(t, r.home, key, append(r.args, "--json")...)
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
func (r *resumable) finishes(t testing.TB) (result resumedResult, said string) {
	t.Helper()
	cmd, out, said := r.run(t, 0, false)
	if err := json.Unmarshal([]byte(out), &result); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Fatalf("exit %d, stdout %q, stderr %q", cmd.ProcessState.ExitCode(), out, said)
	}
	if left := harness.Must(filepath.Glob(filepath.Join(r.home, "vitrine", "publish", "*")))(t); len(left) > 0 {
		t.Errorf("the journal still has %q", left)
	}
	return result, said
}

// count counts what the deployment has.
func (r *resumable) count(t testing.TB) (n made) {
	t.Helper()
	for _, item := range r.env.Scan(t, r.env.Tables.Core) {
		pk, sk := harness.Text(item["pk"]), harness.Text(item["sk"])
		switch {
		case strings.HasPrefix(pk, "A#") && sk == "META":
			n.artifacts++
		case strings.HasPrefix(pk, "A#") && strings.HasPrefix(sk, "R#"):
			n.revisions++
		case strings.HasPrefix(pk, "AL#"):
			n.links++
		}
	}
	return n
}

// wantMade checks what was made since a count.
func (r *resumable) wantMade(t testing.TB, before made) {
	t.Helper()
	if got := r.count(t).minus(before); got != r.makes {
		t.Errorf("it made %+v, want %+v", got, r.makes)
	}
}

// killedAt kills the command at a request, runs it again, and checks that nothing was made or sent twice.
func (r *resumable) killedAt(t *testing.T, at int, after bool) {
	t.Helper()
	before := r.count(t)
	cmd, out, said := r.run(t, at, after)
	if cmd.ProcessState.Exited() || out != "" {
		t.Fatalf("it was not killed: stdout %q, stderr %q", out, said)
	}
	begun := slices.ContainsFunc(r.proxy.seen, isCreate)
	result, said := r.finishes(t)
	r.wantMade(t, before)
	if result.Resumed != begun || begun == !strings.Contains(said, "Continues the publish that was interrupted at ") {
		t.Errorf("resumed: %v, want %v, stderr %q", result.Resumed, begun, said)
	}
	if s := result.Stats; s.Uploaded+s.Reused != s.Total || s.Total != len(resumedSite) {
		t.Errorf("it sent %d and found %d of %d files", s.Uploaded, s.Reused, s.Total)
	}
}

func isCreate(request string) bool { return request == "POST /v1/upload-sessions" }

var resumedSite = map[string]string{"index.html": "<h1>One</h1>", "a.css": "a{}", "b.txt": "two", "empty.txt": ""}

// change gives all files but the empty one new bytes, because the server knows those of earlier revisions.
func (r *resumable) change(t testing.TB) {
	r.changes++
	t.Helper()
	changed := map[string]string{}
	for name, text := range resumedSite {
		if text != "" {
			changed[name] = fmt.Sprintf("%s %d", text, r.changes)
		}
	}
	disk.Write(t, filepath.Join(r.home, "site"), changed)
}

// newResumables returns the kinds of publish. Each has published once, so that the proxy knows how many requests it
// takes.
func newResumables(t testing.TB) map[string]*resumable {
	t.Helper()
	env := harness.NewBackendEnv(t, harness.Unlimited)
	g := env.NewAgent(t)
	env.Update(t, "W#"+string(harness.TokenOf(t, g).Workspace), "META", map[string]any{"claimed_at": env.Options.Now()})
	old := harness.PublishPage(t, g, "first")
	kinds := map[string]*resumable{
		"a new artifact":     {agent: g, makes: made{1, 1, 0}},
		"a revision":         {agent: g, makes: made{0, 1, 0}, args: []string{"--artifact-id", string(old.ArtifactID)}},
		"with a link":        {agent: g, makes: made{1, 1, 1}, args: []string{"--unlisted", "--expires", "3d"}},
		"without an account": {makes: made{1, 1, 1}, args: []string{"--ephemeral"}},
	}
	for _, r := range kinds {
		r.env, r.proxy = env, newKillingProxy(t)
		r.args = append([]string{"publish", "site"}, r.args...)
		r.home = t.TempDir()
		disk.Write(t, filepath.Join(r.home, "site"), resumedSite)
		r.finishes(t)
	}
	return kinds
}

// TestAKilledPublishIsContinued kills the command before and after each of its requests, and runs it again.
func TestAKilledPublishIsContinued(t *testing.T) {
	t.Parallel()
	for name, r := range newResumables(t) {
		t.Run(name, func(t *testing.T) {
			for at := range len(r.proxy.seen) {
				for when, after := range map[string]bool{"before": false, "after": true} {
					r.change(t)
					t.Run(fmt.Sprintf("%s request %d", when, at+1), func(t *testing.T) { r.killedAt(t, at+1, after) })
				}
			}
		})
	}
}
