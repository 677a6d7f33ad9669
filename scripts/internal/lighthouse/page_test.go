//go:build lighthouse

package lighthouse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// page is a page to audit.
type page struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Cookie string `json:"cookie"` // empty: nobody is signed in
}

// result is what Lighthouse says of a page.
type result struct {
	Name   string   `json:"name"`
	Score  float64  `json:"score"` // 0 to 1
	At     string   `json:"at"`    // where the browser ended
	Error  string   `json:"error"`
	Failed []string `json:"failed"`
}

// cookieOf is the session of a browser.
func cookieOf(w *harness.FakeBrowser) string {
	return harness.SessionCookie + "=" + w.Cookies[harness.SessionCookie]
}

// operator signs a person of the operators in.
func operator(t *testing.T, p *harness.BackendEnv) *harness.FakeBrowser {
	t.Helper()
	w := p.NewFakeBrowser()
	at := w.BeginSignIn(t, "/admin")
	q := at.Query()
	q.Set("groups", "operators")
	at.RawQuery = q.Encode()
	w.Get(t, w.Authenticate(t, at, "hedy@example.org"))
	return w
}

// pages are those of the app host, after a member has published and shared an artifact that somebody reported.
func pages(t *testing.T) []page {
	t.Helper()
	_, sells := harness.NewSeller(t, "")
	p := harness.NewBackendEnv(t, harness.Unlimited, sells)
	w := p.SignedIn(t, "ada@example.org")
	member := &wire.Agent{HTTP: p.Anyone.HTTP, At: p.Anyone.At, Key: w.CLIToken(t).AccessToken}
	key := harness.Call[contract.CreatedKey](t, member, 201, "POST", "/v1/web/keys",
		contract.CreateKey{Name: "Build server"}, harness.KeyHeader()...)
	agent := &wire.Agent{HTTP: p.Anyone.HTTP, At: p.Anyone.At, Key: key.Secret}
	tides := func(words string) wire.File {
		return wire.File{
			Path: "index.html",
			Body: []byte(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">` +
				`<title>Tides</title><h1>Tides</h1><p>` + words),
		}
	}
	made := harness.Must(agent.PublishFiles(t.Context(), "Tides", "", tides("low")))(t)
	harness.Must(agent.PublishFiles(t.Context(), "Tides", made.ArtifactID, tides("high")))(t)
	shared := harness.MintLink(t, agent, harness.CreateLink(t, agent, made.ArtifactID, harness.ShareLink).ID)
	w.Post(t, "/report", url.Values{"target": {shared}, "reason": {"other"}, "text": {"Look at it."}})
	op := operator(t, p)
	workspace := string(harness.Call[contract.Whoami](t, agent, 200, "GET", "/v1/whoami", nil).Workspace.ID)

	var all []page
	add := func(cookie string, paths ...string) {
		for _, path := range paths {
			all = append(all, page{path, p.Origins.App + path, cookie})
		}
	}
	artifact := "/artifacts/" + string(made.ArtifactID)
	add("", "/", "/signed-out", "/report", "/claim")
	all = append(all, page{"/al/ID", shared, ""})
	add(cookieOf(w), "/dashboard", "/artifacts", artifact, artifact+"/delete", "/v/"+string(made.ArtifactID),
		"/access-links", "/keys", "/keys/ended", "/connections", "/audit", "/settings", "/settings/delete",
		"/billing", "/device", artifact+"/compare", "/feedback", artifact+"/feedback")
	add(cookieOf(op), "/admin", "/admin/reports", "/admin/lockdowns", "/admin/events", "/admin/provisioning",
		"/admin/workspaces/"+workspace+"/plan")
	for n := range all {
		all[n].Name = strings.NewReplacer(string(made.ArtifactID), "ID", workspace, "ID").Replace(all[n].Name)
	}
	return all
}

// audit runs Lighthouse over pages.
func audit(t *testing.T, all []page) map[string]result {
	t.Helper()
	chrome, err := browser.Find()
	if err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(map[string]any{"chrome": chrome, "pages": all})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 18*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "node", "audit.mjs")
	c.Stdin = bytes.NewReader(asked)
	var wrong strings.Builder
	c.Stderr = &wrong
	said, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, said, wrong.String())
	}
	found := map[string]result{}
	for d := json.NewDecoder(bytes.NewReader(said)); ; {
		var r result
		if err := d.Decode(&r); err == io.EOF {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[r.At] = r
	}
}

// TestTheAuditFindsWhatIsWrong audits a page with an image that says nothing.
func TestTheAuditFindsWhatIsWrong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><html lang="en"><title>x</title><img src="data:," width="9" height="9">`)
	}))
	t.Cleanup(server.Close)
	at := server.URL + "/"
	r := audit(t, []page{{Name: "x", URL: at}})[at]
	if r.Score == 0 || r.Score == 1 || !strings.Contains(strings.Join(r.Failed, "\n"), "image-alt") {
		t.Errorf("%+v, want a score between and a finding about the alt text", r)
	}
}

// TestEveryPageIsAccessible wants the full score for each page, and that it is the page that was asked for: one that
// leads to the sign-in would have the score of that.
func TestEveryPageIsAccessible(t *testing.T) {
	all := pages(t)
	found := audit(t, all)
	var table strings.Builder
	for _, asked := range all {
		r, audited := found[asked.URL]
		switch {
		case !audited:
			t.Errorf("%s was not audited: another page came instead", asked.Name)
		case r.Error != "" || r.Score != 1:
			t.Errorf("%s: %.0f %s\n%s", asked.Name, 100*r.Score, r.Error, strings.Join(r.Failed, "\n"))
		}
		fmt.Fprintf(&table, "\n%s %.0f", asked.Name, 100*r.Score)
	}
	t.Logf("accessibility:%s", &table)
}
