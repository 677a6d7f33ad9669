package faults

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// expectation is what is stored of a scene, and what follows from it.
type expectation struct {
	meta    harness.Item
	owner   *wire.Agent       // has the key that works now
	claimed *harness.Claimant // took the source; nil: it is not claimed
	open    bool              // the artifact can be read
	links   bool              // its links are not locked
	showing string            // the words of the newest revision
}

// finish runs all jobs until nothing is left to do.
func (c *scene) finish(t testing.TB) {
	t.Helper()
	harness.NoError(t, c.Host.Run(ctx))
	if c.source != nil && c.GetItem(t, "W#"+string(c.source.WorkspaceID), "META")["into"] != nil {
		c.Migrate(t, c.source.WorkspaceID)
	}
	harness.NoError(t, c.Host.Run(ctx))
}

// check checks that what was answered is so.
func (c *scene) check(t testing.TB, when string) {
	t.Helper()
	s := c.expected(t)
	c.checkEnd(t, s)
	c.checkLocks(t, s)
	c.checkClaim(t, s)
	c.checkChange(t, s)
	c.checkReads(t, s)
	c.checkLinks(t, s)
	if t.Failed() {
		t.Log(when)
	}
}

// settled is what two operations that undo each other left; unknown if both were done.
func (c *scene) settled(set, clear string) (is, known bool) {
	switch did, undid := c.did(set), c.did(clear); {
	case did && undid:
		return false, false
	case did || undid:
		return did, true
	}
	return c.prepared[set], true
}

func (c *scene) expected(t testing.TB) expectation {
	t.Helper()
	s := expectation{meta: c.GetItem(t, "A#"+string(c.shown.ArtifactID), "META"), owner: c.agent, showing: "first"}
	s.links = s.meta["links_off"] == nil
	if c.did("publish") {
		s.showing = "second"
	}
	end, locked := timeOf(s.meta["exp"]), s.meta["lock"] != nil
	own := c.GetItem(t, "W#"+harness.Text(s.meta["own"]), "META")
	if into := own["into"]; into != nil {
		locked = locked || own["lock"] != nil
		if since, floor := timeOf(own["claimed_at"]), timeOf(own["floor"]); end.After(since) && floor.After(end) {
			end = floor
		}
		own = c.GetItem(t, "W#"+harness.Text(into), "META")
	}
	locked = locked || own["lock"] != nil
	s.open = !locked && harness.Text(s.meta["status"]) == "active" &&
		(s.meta["pin_at"] != nil || c.Options.Now().Before(end))
	if c.source == nil {
		return s
	}
	switch into := harness.Text(c.GetItem(t, "W#"+string(c.source.WorkspaceID), "META")["into"]); {
	case into == string(c.mine.Workspace):
		s.claimed, s.owner = c.mine, c.mine.Agent
	case c.otherMine != nil && into == string(c.otherMine.Workspace):
		s.claimed, s.owner = c.otherMine, c.otherMine.Agent
	}
	return s
}

// timeOf returns a stored time.
func timeOf(v types.AttributeValue) time.Time {
	n, _ := v.(*types.AttributeValueMemberN)
	if n == nil {
		return time.Time{}
	}
	ms, _ := strconv.ParseInt(n.Value, 10, 64)
	return time.UnixMilli(ms)
}

// checkEnd checks that an artifact ended for a reason that an answer told.
func (c *scene) checkEnd(t testing.TB, s expectation) {
	t.Helper()
	switch status := harness.Text(s.meta["status"]); {
	case (status == "deleted") != c.did("delete"):
		t.Errorf("the artifact is %s", status)
	case status == "expired" && c.due != "the artifact":
		t.Error("the artifact expired too early")
	}
	state := c.SessionStatus(t, c.next.UploadSessionID)
	if (state == "finalized") != (c.ready || c.did("finalize")) {
		t.Errorf("the session is %s", state)
	}
	revision := c.GetItem(t, "A#"+string(c.shown.ArtifactID), "R#"+string(c.next.RevisionID))
	if published := harness.Text(revision["no"]); c.did("publish") != (published == "2") {
		t.Errorf("the second revision has the number %s", published)
	}
	drafted := s.meta["draft"] != nil
	if state == "finalized" && harness.Text(s.meta["status"]) == "active" && !c.did("publish") && !drafted &&
		c.due != "the draft" {
		t.Error("the draft is gone")
	}
}

// checkLocks checks that locks are whole, and there when they were set last.
func (c *scene) checkLocks(t testing.TB, s expectation) {
	t.Helper()
	workspace := c.GetItem(t, "W#"+string(c.target), "META")
	for scope, lock := range map[string]struct{ target, id string }{
		"artifact":  {string(c.shown.ArtifactID), attribute(s.meta, "lock")},
		"workspace": {string(c.target), attribute(workspace, "lock")},
	} {
		effective := attribute(c.GetItem(t, "LOCK#"+scope+"#"+lock.target, "EFF"), "id")
		is, known := c.settled("lock "+scope, "lift "+scope)
		if c.did("lift " + scope) { // only what is locked is lifted
			known = !c.prepared["lock "+scope] || !c.did("lock "+scope)
			is = false
		}
		if effective != lock.id || known && is != (lock.id != "") {
			t.Errorf(
				"the lock of the %s is %q, and %q in effect; locked last: %t (known: %t)", scope, lock.id, effective, is, known,
			)
		}
	}
	for n := range 8 {
		fence := c.GetItem(t, "W#"+string(c.target), "FENCE#"+strconv.Itoa(n))
		if attribute(fence, "lock") != attribute(workspace, "lock") {
			t.Errorf("fence %d has the lock %q, the workspace %q", n, attribute(fence, "lock"), attribute(workspace, "lock"))
		}
	}
	if is, known := c.settled("lock links", "unlock links"); known && is == s.links {
		t.Errorf("the links are open: %t", s.links)
	}
}

func attribute(i harness.Item, name string) string {
	if i[name] == nil {
		return ""
	}
	return harness.Text(i[name])
}

// checkClaim checks that a claim is one member's and whole, and that the artifact is in exactly one list.
func (c *scene) checkClaim(t testing.TB, s expectation) {
	t.Helper()
	keys := []*wire.Agent{c.mine.Agent}
	if c.otherMine != nil {
		keys = append(keys, c.otherMine.Agent)
	}
	if c.source != nil {
		keys = append(keys, c.source.Agent)
		claims := c.kind == moving || c.did("claim")
		if claims && s.claimed != c.mine || c.did("claim by another") && s.claimed != c.otherMine || !claims &&
			!c.did("claim by another") && s.claimed != nil {
			t.Errorf("claimed by %v", s.claimed)
		}
		a := harness.Do(t, c.source.Agent, "GET", c.Origins.API+"/v1/whoami", nil)
		shut := c.target == c.source.WorkspaceID && c.did("lock workspace")
		if (a.Status == http.StatusUnauthorized) != (s.claimed != nil || shut) || s.claimed != nil && shut {
			t.Errorf("the key of the source answers %d, claimed: %t, locked: %t", a.Status, s.claimed != nil, shut)
		}
	}
	for _, g := range keys {
		if harness.Do(t, g, "GET", c.Origins.API+"/v1/whoami", nil).Status == http.StatusUnauthorized { // locked or claimed
			continue
		}
		there := slices.Contains(harness.ListArtifacts(t, g, 50), c.shown.ArtifactID)
		if there && g != s.owner || !there && g == s.owner && s.open {
			t.Errorf("the artifact is in the list: %t, of its owner: %t", there, g == s.owner)
		}
	}
}

// checkChange checks the title, the pin, and what is the newest revision.
func (c *scene) checkChange(t testing.TB, s expectation) {
	t.Helper()
	titles := []string{"first"}
	for name, title := range map[string]string{"rename": "renamed", "publish": "second"} {
		if c.did(name) {
			titles = append(titles, title)
		}
	}
	if len(titles) > 1 {
		titles = titles[1:]
	}
	if title := harness.Text(s.meta["title"]); !slices.Contains(titles, title) {
		t.Errorf("the title is %q, not one of %q", title, titles)
	}
	is, known := c.settled("pin", "unpin")
	if known && harness.Text(s.meta["status"]) == "active" && is != (s.meta["pin_at"] != nil) {
		t.Errorf("the artifact is pinned: %t", s.meta["pin_at"] != nil)
	}
	current := c.shown.RevisionID
	if c.did("publish") {
		current = c.next.RevisionID
	}
	if got := harness.Text(s.meta["cur"]); got != string(current) {
		t.Errorf("the artifact shows %s, not %s", got, current)
	}
}

// wantBody checks that a URL gives a page or nothing. What was signed when the artifact was about to end may have
// ended.
func (c *scene) wantBody(t testing.TB, what, url, words string, open bool) {
	t.Helper()
	switch a := c.Get(t, url); {
	case !open && a.Status != http.StatusNotFound:
		t.Errorf("%s answers %d", what, a.Status)
	case open && a.Status == http.StatusNotFound && c.due != "":
	case open && (a.Status != http.StatusOK || words != "" && !bytes.Equal(a.Body, harness.Page(words).Body)):
		t.Errorf("%s answers %d with %d bytes", what, a.Status, len(a.Body))
	}
}

// checkReads checks every way to the artifact. Private closes the view of what was published before it.
func (c *scene) checkReads(t testing.TB, s expectation) {
	t.Helper()
	c.wantBody(t, "the content URL of the publication", c.shown.RevisionContentURL, "first", s.open)
	c.wantBody(t, "the content URL from before", c.viewed, "first", s.open)
	c.wantBody(t, "the public view", c.shown.AgentViewURL, "", s.open && s.links && !c.did("private"))
	a := harness.Do(t, s.owner, "GET", c.Origins.API+"/v1/artifacts/"+string(c.shown.ArtifactID)+"/agent-view", nil)
	if !s.open {
		if a.Status != http.StatusNotFound && a.Status != http.StatusUnauthorized {
			t.Errorf("the owner's view answers %d", a.Status)
		}
	} else if a.Status != http.StatusOK {
		t.Errorf("the owner's view answers %d %s", a.Status, a.Body)
	} else {
		v := harness.Must(s.owner.AgentView(ctx, c.shown.ArtifactID))(t)
		c.WantContent(t, v.RevisionContentURL, harness.Page(s.showing).Body)
	}
	if c.did("publish") {
		p := answerIf[contract.Published](t, c, "publish")
		c.wantBody(t, "the content URL of the second publication", p.RevisionContentURL, "second", s.open)
		open := s.open && s.links && harness.Text(s.meta["views_closed"]) != "2"
		c.wantBody(t, "the public view of the second publication", p.AgentViewURL, "", open)
	}
}

// checkLinks checks every link.
func (c *scene) checkLinks(t testing.TB, s expectation) {
	t.Helper()
	open := s.open && s.links
	c.wantLink(t, "the share link", c.share.OpenedLink, s.showing, open && !c.did("revoke", "private"))
	c.wantLink(t, "the revision link", c.revision.OpenedLink, "first", open && !c.did("private"))
	for name, url := range map[string]string{
		"unlisted": answerIf[contract.Visibility](t, c, "unlisted").UnlistedURL,
		"publish":  answerIf[contract.Published](t, c, "publish").UnlistedURL,
	} {
		switch {
		case url == "":
		case harness.PublicID(t, url) == harness.PublicID(t, c.share.URL):
			c.wantLink(t, "the share link of "+name, harness.OpenedLink{URL: url}, s.showing, open &&
				!c.did("revoke", "private"))
		case !open || !c.did("private"):
			c.wantLink(t, "the new share link of "+name, harness.OpenedLink{URL: url}, s.showing, open)
		}
	}
}

// answerIf unpacks the answer of an operation that was done; else it is the zero value.
func answerIf[T any](t testing.TB, c *scene, name string) (out T) {
	t.Helper()
	if c.did(name) {
		harness.Decode(t, c.answers[name], &out)
	}
	return out
}

// wantLink checks that a link opens the artifact or nothing, and what it gave before as well.
func (c *scene) wantLink(t testing.TB, what string, l harness.OpenedLink, words string, open bool) {
	t.Helper()
	public, blob, err := wire.SplitLink(l.URL)
	harness.NoError(t, err)
	a := harness.Do(t, c.Anyone, "POST", c.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
		PublicID: public,
		Blob:     blob,
	})
	if a.Status == http.StatusOK != open || !open && a.Status != http.StatusNotFound {
		t.Errorf("%s answers %d %.200s, open: %t", what, a.Status, a.Body, open)
	} else if open {
		c.WantContent(t, harness.Must(c.Anyone.Resolve(ctx, l.URL))(t).IframeSrc, harness.Page(words).Body)
	}
	if l.Content != "" {
		c.wantBody(t, "the content URL through "+what, l.Content, "", open)
	}
}
