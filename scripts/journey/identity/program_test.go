package identity

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
)

// program is the CLI in a home folder of its own.
type program struct {
	*harness.BackendEnv
	home string
}

// run returns the JSON that a command prints, which has to end with an exit code.
func (p *program) run(t *testing.T, exit int, stdin string, args ...string) (answer map[string]any) {
	t.Helper()
	run := p.Command(t, p.home, "", append(args, "--json")...)
	var said strings.Builder
	run.Stdin, run.Stderr = strings.NewReader(stdin), &said
	out, _ := run.Output() // the exit code tells
	if got := run.ProcessState.ExitCode(); got != exit {
		t.Fatalf("vitrine %s ends with %d, want %d\n%s%s", strings.Join(args, " "), got, exit, out, said.String())
	}
	if exit == 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("vitrine %s prints %s: %v", strings.Join(args, " "), out, err)
		}
	}
	return answer
}

var shownCode = regexp.MustCompile(`^  ([BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4})$`)

// signIn logs the program in by a code of eight letters that a person types.
func (p *program) signIn(t *testing.T, w *harness.FakeBrowser) {
	t.Helper()
	login := p.Command(t, p.home, "", "login", "--device-code")
	said := harness.Must(login.StderrPipe())(t)
	harness.NoError(t, login.Start())
	lines, typed := bufio.NewScanner(said), false
	for lines.Scan() {
		if code := shownCode.FindStringSubmatch(lines.Text()); code != nil {
			a := w.Post(t, "/device/approve", url.Values{"code": {strings.ToLower(code[1])}})
			typed = a.Status == http.StatusOK
		}
	}
	if err := login.Wait(); err != nil || !typed {
		t.Fatalf("login: %v, the code was accepted: %v", err, typed)
	}
}

// TestThePersonBehindACommand claims what was published without an account, manages keys and publishes.
func TestThePersonBehindACommand(t *testing.T) {
	t.Parallel()
	p := &program{harness.NewBackendEnv(t), t.TempDir()}
	w := p.SignedIn(t, "ada@example.org")
	p.run(t, 2, "", "keys", "list")
	trial := p.run(t, 0, "<h1>From a pipe</h1>", "publish", "-", "--ephemeral")
	p.signIn(t, w)

	claimed := p.run(t, 0, trial["claim_url"].(string)+"\n", "claim", "-", "--yes")
	if got := claimed["artifact_ids"].([]any); len(got) != 1 || got[0] != trial["artifact_id"] {
		t.Errorf("claimed %v, published %v", got, trial["artifact_id"])
	}
	p.run(t, 5, "", "claim", trial["claim_token"].(string), "--yes")

	p.Clock.Advance(time.Second) // so that the next key is newer than that of the login
	made := p.run(t, 0, "", "keys", "create", "ci")
	secret, key := made["secret"].(string), made["api_key"].(map[string]any)["id"].(string)
	harness.Call[any](t, p.WithBearer(secret), http.StatusOK, "GET", "/v1/whoami", nil)
	listed := p.run(t, 0, "", "keys", "list", "--limit", "100")["items"].([]any)
	if len(listed) != 2 || listed[0].(map[string]any)["name"] != "ci" {
		t.Errorf("the keys are %v", listed)
	}
	p.run(t, 4, "", "keys", "revoke", key)
	p.run(t, 0, "", "keys", "revoke", key, "--yes")
	harness.Call[any](t, p.WithBearer(secret), http.StatusUnauthorized, "GET", "/v1/whoami", nil)
	p.run(t, 5, "", "keys", "revoke", "key_00000000000000000000000000", "--yes")

	// A dry run compares a file from stdin with an artifact of the workspace, and publishes nothing.
	first := p.run(t, 0, "<h1>One</h1>", "publish", "-")
	artifact := first["artifact_id"].(string)
	for body, change := range map[string]string{"<h1>One</h1>": "same", "<h1>Two</h1>": "changed"} {
		dry := p.run(t, 0, body, "publish", "-", "--dry-run", "--artifact-id", artifact)
		if got := dry["files"].([]any)[0].(map[string]any)["change"]; got != change {
			t.Errorf("%s is %v, want %s", body, got, change)
		}
	}
	if got := p.run(t, 0, "", "revisions", artifact)["items"].([]any); len(got) != 1 {
		t.Errorf("%d revisions after dry runs", len(got))
	}
	opened := p.run(t, 0, "", "open", artifact)
	if opened["url"] != first["private_url"] || opened["opened"] != false {
		t.Errorf("open says %v, publish said %v", opened, first["private_url"])
	}
}
