package pages

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// terminal runs commands with a home folder of its own.
type terminal struct {
	*harness.Env
	home string
}

// newTerminal gives the command a home of its own.
func newTerminal(t *testing.T, d *harness.Env) *terminal {
	t.Helper()
	return &terminal{d, t.TempDir()}
}

// run runs a command that has to end with an exit code, and returns its standard output and error.
func (c *terminal) run(t *testing.T, exit int, input string, args ...string) (stdout, stderr string) {
	t.Helper()
	run := c.Command(t, c.home, "", args...)
	var out, said strings.Builder
	run.Stdin = strings.NewReader(input)
	run.Stdout = &out
	run.Stderr = &said
	err := run.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := run.ProcessState.ExitCode(); got != exit {
		t.Fatalf("vitrine %s ends with %d, want %d\n%s%s", strings.Join(args, " "), got, exit, out.String(), said.String())
	}
	return out.String(), said.String()
}

// decode runs a command with --json and unpacks what it prints.
func decode[T any](t *testing.T, c *terminal, input string, args ...string) (answer T) {
	t.Helper()
	out, _ := c.run(t, 0, input, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("vitrine %s prints %s: %v", strings.Join(args, " "), out, err)
	}
	return answer
}

var deviceURL = regexp.MustCompile(`http://localhost:\d+/device\?code=\S+`)

// signIn logs the command in by a code that a person approves in a browser.
func (c *terminal) signIn(t *testing.T, email string) *browser.Page {
	t.Helper()
	login := c.Command(t, c.home, "", "login", "--device-code")
	said := harness.Must(login.StderrPipe())(t)
	var printed strings.Builder
	login.Stdout = &printed
	harness.NoError(t, login.Start())
	lines, approve := bufio.NewScanner(said), ""
	for approve == "" && lines.Scan() {
		approve = deviceURL.FindString(lines.Text())
	}
	if approve == "" {
		t.Fatal("login names no URL")
	}
	p := browser.Open(t)
	p.Go(approve)
	p.SignIn(email)
	p.WaitText("Connect a device")
	p.Click(`form[action="/device"] button`)
	p.WaitText("Let this device in?")
	p.Screenshot("journey-device")
	p.Click(`form[action="/device/approve"] button:not([formaction])`)
	rest, _ := io.ReadAll(said)
	if err := login.Wait(); err != nil || !strings.HasPrefix(printed.String(), "Signed in as "+email+"\n") {
		t.Fatalf("login: %v, standard output %q, standard error %s", err, printed.String(), rest)
	}
	return p
}

// wantFile tells what a file of an artifact has to be, byte by byte.
func (c *terminal) wantFile(t *testing.T, a id.Artifact, path, want string, flags ...string) {
	t.Helper()
	if got, _ := c.run(t, 0, "", append([]string{"pull", string(a), path}, flags...)...); got != want {
		t.Errorf("%s has %d bytes, want %d, or others", path, len(got), len(want))
	}
}

// revised is what the commands that publish print with --json, as far as it matters here.
type revised struct {
	contract.Published
	UploadStats struct {
		Uploaded int `json:"uploaded_files"`
		Reused   int `json:"reused_files"`
	} `json:"upload_stats"`
}

// agent acts with the API key that the command keeps.
func (c *terminal) agent(t *testing.T) *wire.Agent {
	t.Helper()
	var kept struct {
		Credentials map[string]struct {
			APIKey string `json:"api_key"`
		}
	}
	harness.NoError(
		t, json.Unmarshal(harness.Must(os.ReadFile(filepath.Join(c.home, "vitrine", "credentials.json")))(t), &kept),
	)
	return c.WithBearer(kept.Credentials[c.Origins.API].APIKey)
}

func TestAMemberRevisesAnArtifactWithTheCommand(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, harness.NewEnv(t, harness.Unlimited))
	c.signIn(t, "ada@example.org")
	before := harness.Lines(3000, "entry")
	first := decode[revised](t, c, "", "publish", folderOf(t, map[string]string{
		"index.html": "<!doctype html><h1>Tides</h1>\n", "log.txt": before, "old.txt": "goes", "empty.txt": "",
	}), "--title", "Tide tables")
	a := first.ArtifactID

	t.Log("a patch, and exactly its bytes")
	after := strings.Replace(before, "entry 1500\n", "entry fifteen hundred\r\n", 1)
	decode[revised](
		t, c, `[{"old_string":"entry 1500\n","new_string":"entry fifteen hundred\r\n"}]`, "edit", string(a), "log.txt",
	)
	c.wantFile(t, a, "log.txt", after)
	c.wantFile(t, a, "log.txt", before, "--revision-id", string(first.RevisionID))
	c.wantFile(t, a, "empty.txt", "")

	t.Log("what did not change is inherited")
	next := folderOf(t, map[string]string{
		"index.html": "<!doctype html><h1>Tides of May</h1>\n",
		"log.txt":    after,
		"empty.txt":  "",
		"new.txt":    "comes",
	})
	third := decode[revised](t, c, "", "publish", next, "--artifact-id", string(a))
	if s := third.UploadStats; s.Uploaded != 2 || s.Reused != 2 || third.Title != "Tide tables" {
		t.Errorf("%q: %d files were sent and %d reused", third.Title, s.Uploaded, s.Reused)
	}
	c.wantFile(t, a, "log.txt", after)
	c.wantFile(t, a, "new.txt", "comes")
	c.run(t, 5, "", "pull", string(a), "old.txt")
	if again := decode[revised](t, c, "", "publish", next, "--artifact-id", string(a)); again.RevisionID != third.RevisionID {
		t.Errorf("an unchanged publish made revision %s", again.RevisionID)
	}

	t.Log("somebody else's draft is in the way, until it is published")
	agent := c.agent(t)
	theirs := wire.Declare("Theirs", harness.Page("theirs"))
	theirs.ArtifactID = a
	draft := harness.Must(agent.Draft(ctx, wire.NewKey(), theirs, harness.Page("theirs")))(t)
	_, said := c.run(t, 7, "", "publish", next, "--artifact-id", string(a), "--force")
	if !strings.Contains(said, string(fault.DraftRevisionConflict)) {
		t.Errorf("the command says %s", said)
	}
	harness.Must(agent.Publish(ctx, wire.NewKey(), a, draft.RevisionID))(t)
	fifth := decode[revised](t, c, "", "publish", next, "--artifact-id", string(a))
	c.wantFile(t, a, "new.txt", "comes")

	t.Log("the first revision is the newest again, and no byte is sent for it")
	if s := decode[revised](t, c, "", "restore", string(a), "1").UploadStats; s.Uploaded != 0 || s.Reused != 4 {
		t.Errorf("%d files were sent and %d reused", s.Uploaded, s.Reused)
	}
	c.wantFile(t, a, "log.txt", before)
	c.wantFile(t, a, "old.txt", "goes")
	c.wantFile(t, a, "empty.txt", "")
	c.run(t, 5, "", "pull", string(a), "new.txt")
	c.wantFile(t, a, "new.txt", "comes", "--revision-id", string(fifth.RevisionID))
	if list, _ := c.run(t, 0, "", "revisions", string(a), "--quiet"); strings.Count(list, "\n") != 6 {
		t.Errorf("the revisions are\n%s", list)
	}
}

func TestAMemberSharesWithTheCommandAndEndsItAtOnce(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, harness.NewEnv(t, harness.Unlimited))
	c.signIn(t, "ada@example.org")
	folder := folderOf(t, map[string]string{"index.html": string(interactive.Body)})
	made := decode[revised](t, c, "", "publish", folder, "--title", "Tide tables")
	link := decode[struct {
		ID  string `json:"access_link_id"`
		URL string `json:"url"`
	}](t, c, "", "link", string(made.ArtifactID))
	opened := harness.Must(c.Anyone.Resolve(ctx, link.URL))(t)
	c.WantContent(t, opened.IframeSrc, interactive.Body)
	c.run(t, 0, "", "link", "revoke", link.ID)
	c.run(t, 5, "", "show", link.URL)
	c.WantGone(t, opened.IframeSrc)
	c.wantFile(t, made.ArtifactID, "index.html", string(interactive.Body))

	out, _ := c.run(t, 0, "", "set-visibility", string(made.ArtifactID), "unlisted", "--quiet")
	again := strings.TrimSpace(out)
	harness.Must(c.Anyone.Resolve(ctx, again))(t)
	c.run(t, 0, "", "set-visibility", string(made.ArtifactID), "private")
	c.run(t, 5, "", "show", again)
}

func TestTheCommandProvesWorkByItself(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, func(o *stack.Options) { o.Limits.Pow = limits.PowAlways })
	out, _ := newTerminal(t, d).run(
		t, 0, "", "publish", folderOf(t, map[string]string{"index.html": "<p>worked for"}), "--ephemeral",
	)
	link := linkForm.FindString(out)
	if _, err := d.Anyone.Resolve(ctx, link); err != nil {
		t.Error(err)
	}
}

// TestAFolderOfScreenshotsOpensAsAGallery publishes a folder without a page, and goes to a file of it and back.
func TestAFolderOfScreenshotsOpensAsAGallery(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, harness.NewEnv(t, harness.Unlimited))
	c.signIn(t, "ada@example.org")
	shots := map[string]string{}
	for n := range 5 {
		shots[fmt.Sprintf("%d.svg", n+1)] = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>`
	}
	made := decode[revised](t, c, "", "publish", folderOf(t, shots), "--title", "Shots", "--unlisted")
	p := browser.Open(t)
	p.Go(made.UnlistedURL)
	f := p.Frame(c.Origins.Content + "/r/")
	f.Wait(`[...document.querySelectorAll(".v-gallery .v-thumb img")].filter((image) => image.naturalWidth === 40).length === 5`)
	if n := browser.Eval[int](&p.Document, `document.querySelectorAll('.files [aria-current]').length`); n > 0 {
		t.Errorf("the viewer says of %d files that it shows them", n)
	}
	f.Click(`.v-list a[href$="/2.svg"]`)
	p.Wait(`new URLSearchParams(location.search).get("at") === "2.svg"`)
	f = p.Frame("/2.svg")
	f.Click(`.trail a`)
	p.Wait(`location.search === "" && document.title === "Shots | Vitrine"`)
	f = p.Frame(c.Origins.Content + "/r/")
	f.Wait(`document.querySelectorAll(".v-thumb").length === 5`)
	f.Clean()
	p.Clean()

	t.Log("an edit and a restoration keep the list, and the view for agents has the entrypoint as ever")
	last := made.RevisionID
	for _, args := range [][]string{{"edit", string(made.ArtifactID), "3.svg"}, {"restore", string(made.ArtifactID), "1"}} {
		c.run(t, 0, `[{"old_string":"<rect","new_string":"<circle"}]`, args...)
		opened := harness.Must(c.Anyone.Resolve(ctx, made.UnlistedURL))(t)
		v := opened.AgentView
		if v.RevisionID == last || !v.Listing || v.Entrypoint != "1.svg" || !strings.HasSuffix(v.RevisionContentURL, "/1.svg") {
			t.Errorf("after %s the view is %+v", args[0], v)
		}
		last = v.RevisionID
		if page := c.Get(t, opened.IframeSrc); page.Status != 200 || !strings.Contains(string(page.Body), "v-gallery") {
			t.Errorf("after %s %s answers %d", args[0], opened.IframeSrc, page.Status)
		}
	}
}
