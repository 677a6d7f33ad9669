package app

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/sharing"
)

const (
	artifactPage   = "/artifacts/" + artifactID
	comparisonPage = artifactPage + "/compare"
)

func TestTheViewerShowsEverythingUnseenAlike(t *testing.T) {
	seen := func(state func(*fakeServices), path string) (int, string) {
		s := newServices()
		all(state)(s)
		r := signedIn(s.handler(), "GET", path, nil, "X-Request-Id", "request-17")
		h := ""
		for _, name := range []string{"Content-Type", "Cache-Control", "Referrer-Policy", policyHeader, "Content-Length", "Location"} {
			h += name + "=" + r.Header.Get(name) + "\n"
		}
		return r.StatusCode, h + text(t, r)
	}
	_, want := seen(nil, "/v/"+strangeID)
	if !strings.Contains(want, "Nothing on show here") {
		t.Fatal(want)
	}
	for name, tt := range map[string]struct {
		state func(*fakeServices)
		path  string
	}{
		"malformed": {nil, "/v/nothing"}, "hostile": {nil, "/v/%22%3E%3Cscript%3E"}, "expired": {ended, "/v/" + artifactID}, "draft": {draft, "/v/" + artifactID},
		"an unknown revision":  {nil, "/v/" + artifactID + "?revision=rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z0"},
		"a malformed revision": {nil, "/v/" + artifactID + "?revision=x"}, "a draft revision": {nil, "/v/" + artifactID + "?revision=" + draftID},
		"a revision without files": {nil, "/v/" + artifactID + "?revision=" + firstID}, "a revision of somebody else's": {nil, "/v/" + strangeID + "?revision=" + oldID},
	} {
		if status, got := seen(tt.state, tt.path); status != 404 || got != want {
			t.Errorf("%s: %d\n%s", name, status, got)
		}
	}
	r := signedIn(newServices().handler(), "GET", "/v/"+strangeID, nil, "Accept", "application/json")
	wantAnswer(t, "a program sees", r, 404, `"code":"not_found"`)
}

func TestTheViewerShowsNothingOfWhatTheOperatorClosed(t *testing.T) {
	for _, path := range []string{"/v/" + artifactID, "/v/" + artifactID + "?revision=" + oldID} {
		s := newServices()
		closed(s)
		r := signedIn(s.handler(), "GET", path, nil)
		body := wantAnswer(t, path, r, 404, "Closed by the operator", artifactPage)
		expect.Lacks(t, path, body+r.Header.Get(policyHeader), s.contentURL, "frame-src")
		r = signedIn(s.handler(), "GET", path, nil, "Accept", "application/json")
		expect.Lacks(t, path+" for a program", wantAnswer(t, path, r, 404), s.contentURL)
	}
}

func TestTheViewerKnowsItsRevision(t *testing.T) {
	const viewer, other = "/v/" + artifactID, "not the newest"
	newest := page(t, viewer)
	expect.Has(t, "the newest", newest, "/v/scripts/report.html")
	expect.Lacks(t, "the newest", newest, other)
	keys := regexp.MustCompile(`name="once" value="[^"]+"`)
	if keys.ReplaceAllString(page(t, viewer+"?revision="+newestID), "") != keys.ReplaceAllString(newest, "") {
		t.Error("the newest by its name looks different")
	}
	expect.Has(t, "the older one", page(t, viewer+"?revision="+oldID), "/v/plain/report.html", other)
}

func TestAnArtifactsPage(t *testing.T) {
	for name, tt := range map[string]struct {
		state      func(*fakeServices)
		has, lacks []string
	}{
		"unlisted": {
			nil,
			[]string{"Unlisted", "Revision 3", "Files removed", "Draft", "/v/" + artifactID + "?revision=" + oldID, `href="/v/` + artifactID + `"`, `value="` + oldID + `"`,
				"Link to revision 2", linkPath + "/revoke", linkPath + "/address", "Make it private", "/pin\"", "/delete"},
			[]string{firstID + `">`, `value="share"`, "Turn the links back on", "/unpin", "Make it unlisted"},
		},
		"private": {private, []string{"Private", "Make it unlisted", `value="share"`, "Revoked", "Expired"}, []string{"Make it private", linkPath, "/address"}},
		"locked":  {locked, []string{"Links off", "Turn the links back on", "Make it private", linkPath + "/revoke"}, []string{"Make the link", "/address"}},
		"pinned":  {pinned, []string{"Pinned", "not while it is pinned", "/unpin"}, []string{"/pin\""}},
		"lasting": {lasting, []string{"<dd>does not expire</dd>", "It does not expire, pinned or not.", "/pin\""}, []string{"2100", "Pinned"}},
		"deleted": {deleted, []string{"has ended", "Nobody any more", `<dt>Ended</dt><dd><time datetime="2026-03-14T10:00:00Z"`}, []string{"<form class", "/delete", "/revoke", "/address", "/v/"}},
		"ended":   {ended, []string{"has ended", "Nobody any more"}, []string{"<form class", "/delete", "/revoke", "/address", "/v/"}},
		"draft":   {draft, []string{"not published yet", "until a revision is published", "/delete"}, []string{"/links", "/pin", "/title", "/v/"}},
		"closed":  {closed, []string{"closed by the operator", "while it is closed", "Make it private", "/delete"}, []string{"Make the link", "/pin", "/v/", "/address", "Unlisted"}},
	} {
		_, body, _ := strings.Cut(page(t, artifactPage, tt.state), "<main")
		expect.Has(t, name, body, tt.has...)
		expect.Lacks(t, name, body, tt.lacks...)
	}
	for _, path := range []string{"/artifacts/" + strangeID, "/artifacts/" + strangeID + "/delete", "/artifacts/" + strangeID + "/lockdown", "/artifacts/" + strangeID + "/links/" + shareID + "/revoke"} {
		wantAnswer(t, path, signedIn(newServices().handler(), "GET", path, nil), 404)
	}
}

func TestAnArtifactsPageOffersItsArchive(t *testing.T) {
	expect.Has(t, "one that is ready", page(t, artifactPage),
		`/b/token" rel="noopener noreferrer" referrerpolicy="no-referrer">Download everything (zip, 1.3 MB)</a>`)
	expect.Has(t, "one that is not", page(t, artifactPage, pinned),
		"A zip archive of all files is being prepared. Load the page again in 42 seconds to download it.")
}

func TestWhatFormsOfAnArtifactAreRefusedFor(t *testing.T) {
	const ended = "Nothing was changed: it may have ended or been deleted meanwhile."
	for err, want := range map[error]struct {
		status int
		why    string
	}{
		fault.New(fault.NotFound, "the access links of this artifact are locked; unlock them first"): {
			404, "Nothing was changed: the access links of this artifact are locked; unlock them first.",
		},
		fault.NewCode(fault.ArtifactNotFound):  {404, ended},
		fault.NewCode(fault.RevisionRetained):  {404, ended},
		fault.NewCode(fault.PinnedArtifactCap): {409, "Unpin another one"},
	} {
		for _, path := range []string{
			"/links", "/unlisted", "/private", "/lockdown", "/lockdown/lift", "/pin", "/unpin", "/title", "/delete",
		} {
			if want.status == 409 && path != "/pin" {
				continue
			}
			s := newServices()
			s.fail = err
			r := s.post(artifactPage+path, forms[artifactPage+path].fields)
			wantAnswer(t, path+", "+err.Error(), r, want.status, want.why, `href="`+artifactPage+`"`)
		}
	}
	s := newServices()
	s.fail = fault.New(fault.NotFound, "gone")
	wantRedirect(t, "a link that is revoked already", s.post(linkPath+"/revoke", nil), artifactPage+"#links")
	s = newServices()
	r := s.post(artifactPage+"/title", url.Values{"title": {"  "}})
	wantAnswer(t, "an empty title", r, 400, "1 to 160 characters", `value="  "`)
	if len(s.changes) > 0 {
		t.Errorf("an empty title changes %v", s.changes)
	}
}

func TestMakingPrivateTellsWhatStaysReachable(t *testing.T) {
	expect.Has(t, "the question", page(t, artifactPage+"/private"),
		"work until the artifact ends, for about 14 days at most; deleting it ends them at once.")
}

func TestTheTitleToChangeIsTheStoredOne(t *testing.T) {
	s := newServices()
	s.title = "gpj\u202Eexe " + strings.Repeat("ä", 210)
	body := text(t, signedIn(s.handler(), "GET", artifactPage, nil))
	if !strings.Contains(body, `value="`+s.title+`"`) || strings.Count(body, "\u202E") != 1 {
		t.Errorf("the form changes what nobody asked for:\n%s", body)
	}
}

func TestLinksAreShownWithTheirAddressOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		state  func(*fakeServices)
		path   string
		fields url.Values
		wanted sharing.Request
		has    string
	}{
		"a share link":       {private, "/links", url.Values{"shows": {"share"}}, sharing.Request{Kind: "share"}, "<dt>Ends</dt><dd><time datetime=\"2026-03-17T12:00:00Z\""},
		"one that was there": {nil, "/links", url.Values{"shows": {"share"}, "ends": {"1h"}}, sharing.Request{Kind: "share", ExpiresAt: new(noon.Add(time.Hour))}, "<dt>Ends</dt><dd><time datetime=\"2026-03-15T08:00:00Z\""},
		"a revision link": {
			nil, "/links", url.Values{"shows": {oldID}, "ends": {"1h"}}, sharing.Request{Kind: "revision", Revision: oldID, ExpiresAt: new(noon.Add(time.Hour))},
			"<dt>Ends</dt><dd><time datetime=\"2026-03-14T13:00:00Z\"",
		},
		"a link again": {nil, "/links/" + pinnedID + "/address", nil, sharing.Request{}, "<dt>Ends</dt><dd><time datetime=\"2026-03-14T14:00:00Z\""},
		"unlisted":     {private, "/unlisted", nil, sharing.Request{}, "with the artifact, or when you revoke it"},
	} {
		s := newServices()
		all(tt.state)(s)
		if name == "one that was there" { // with an end of its own, whatever was asked for
			s.accessLinks.AddressFn = func(a *sharing.Address) { a.Link.ExpiresAt = noon.Add(20 * time.Hour) }
		}
		host, lines := s.host()
		h := host.Handler()
		if tt.fields != nil {
			tt.fields.Set("once", formName)
		}
		r := signedIn(h, "POST", artifactPage+tt.path, tt.fields)
		body := wantAnswer(t, name, r, 200, tt.has, "Anyone who has this link")
		if strings.Count(body, ">"+linkAddress+"<") != 1 {
			t.Errorf("%s: not one address\n%s", name, body)
		}
		wantHeaders(t, name, r, "Cache-Control", "no-store", "Referrer-Policy", "no-referrer")
		expect.Lacks(t, name+", the log", lines.String(), blob)
		if diff := cmp.Diff(tt.wanted, s.accessLinks.wanted); diff != "" {
			t.Errorf("%s asks for something else:\n%s", name, diff)
		}
		expect.Lacks(t, name, text(t, signedIn(h, "GET", artifactPage, nil))+text(t, signedIn(h, "GET", "/access-links", nil)),
			blob)
	}
	for path, fields := range map[string]url.Values{"/links/" + pinnedID + "/address": nil, "/unlisted": nil} {
		s := newServices()
		s.accessLinks.AddressFn = func(a *sharing.Address) { a.Artifact.ID = strangeID }
		body := wantAnswer(t, path, signedIn(s.handler(), "POST", artifactPage+path, fields), 404)
		expect.Lacks(t, path+" of another artifact", body, linkAddress)
	}
	for name, fields := range map[string]url.Values{
		"another end": {"shows": {"share"}, "ends": {"2h"}, "once": {formName}},
		"no revision": {"shows": {firstID}, "once": {formName}},
	} {
		s := newServices()
		if r := s.post(artifactPage+"/links", fields); r.StatusCode < 400 || r.StatusCode > 404 ||
			slices.Contains(s.calls, "Address "+shareID) {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	s := newServices()
	locked(s)
	wantAnswer(t, "a locked link", signedIn(s.handler(), "POST", linkPath+"/address", nil), 404,
		"no longer opens anything")
}

func TestRightsOfMembersHold(t *testing.T) {
	readers := []string{artifactPage + "/pin", artifactPage + "/unpin"}
	for path, d := range forms {
		if !strings.HasPrefix(path, artifactPage) || slices.Contains(readers, path) {
			continue
		}
		s := newServices()
		s.actor.Scopes = []credential.Scope{credential.Read}
		wantAnswer(t, path, s.post(path, d.fields), 403)
		wantCalls(t, path, s)
	}
	for _, path := range readers {
		s := newServices()
		s.actor.Scopes = []credential.Scope{credential.Read}
		wantRedirect(t, path, s.post(path, onlyNamed), artifactPage)
	}
	for _, path := range []string{"/v/" + artifactID, artifactPage, "/access-links", comparisonPage} {
		s := newServices()
		s.actor.Scopes = []credential.Scope{credential.Publish}
		wantAnswer(t, path, signedIn(s.handler(), "GET", path, nil), 403)
		wantCalls(t, path, s)
	}
	for _, path := range []string{
		"/settings", "/settings/export", deletePath, billingPath + "/checkout", billingPath + "/portal",
	} {
		s := newServices()
		s.actor.Scopes = s.actor.Scopes[:2]
		wantAnswer(t, path, s.post(path, forms[path].fields), 403)
		wantCalls(t, path, s)
	}
}

func TestAllLinksOfAWorkspace(t *testing.T) {
	body := page(t, "/access-links")
	expect.Has(t, "the page", body,
		"Seals of the bay", strangeID, `aria-current="page">Access links`, "Share link", "Live", "Revoked", "Expired",
		`datetime="2026-03-17T12:00:00Z" title="17 March 2026, 12:00 UTC">in 3 days</time>, with the artifact`,
		`datetime="2026-03-14T14:00:00Z"`, linkPath+"/revoke")
	expect.Lacks(t, "the page", body, "/artifacts/"+strangeID+"/links/", ">Older</a>")
	for name, tt := range map[string]struct {
		set   func(*fakeServices)
		state string
	}{"locked": {locked, "Locked"}, "closed": {closed, "Locked"}, "ended": {ended, "Ended"}, "deleted": {deleted, "Ended"}} {
		for _, path := range []string{"/access-links", artifactPage} {
			body := page(t, path, tt.set, crowd)
			expect.Lacks(t, path+", "+name, body, ">Live<", "/address")
			expect.Has(t, path+", "+name, body, `href="`+path+"?", "=next%2Bcursor")
			if strings.Count(body, ">"+tt.state+"<") < 2 {
				t.Errorf("%s, %s: a link that opens nothing looks live", path, name)
			}
		}
	}
}

func TestThePageShowsWhatMayNotWork(t *testing.T) {
	const heading = "What may not work"
	expect.Lacks(t, "a page without findings", page(t, artifactPage), heading)
	body := page(t, artifactPage, warned)
	expect.Has(t, "a page with some", body, heading, "line 12", "low-tide",
		"connect-src blocks requests to https://api.example.com", "And 3 more", ">Hint<", "2 findings", "1 finding<")
	expect.Lacks(t, "a page with some", body, "\u202e")
}

func TestOlderRevisionsAreRestored(t *testing.T) {
	const restore = `/restore"`
	body := page(t, artifactPage)
	if strings.Count(body, restore) != 1 || !strings.Contains(body, `action="`+restorePath+`"`) {
		t.Errorf("not the one older revision that has its files is restored:\n%s", body)
	}
	for _, state := range []func(*fakeServices){ended, deleted, closed, draft} {
		expect.Lacks(t, "what cannot be changed", page(t, artifactPage, state), restore)
	}
}

func TestWhyARevisionIsNotRestored(t *testing.T) {
	for code, want := range map[fault.Code]struct {
		status int
		words  string
	}{
		fault.DraftRevisionConflict:   {409, "A draft is in the way"},
		fault.RevisionCeilingExceeded: {429, "It has as many revisions as it is allowed"},
		fault.RevisionRetained:        {404, "Nothing was changed: it may have ended"},
		fault.RevisionUnpublished:     {404, "Nothing was changed: it may have ended"},
		fault.ArtifactNotFound:        {404, "Nothing was changed: it may have ended"},
	} {
		s := newServices()
		s.artifacts.RestoreFn = func() error { return fault.NewCode(code) }
		r := s.post(restorePath, onlyNamed)
		wantAnswer(t, string(code), r, want.status, want.words, "Nothing was changed", `href="`+artifactPage+`"`)
	}
}
