package app

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/sharing"
)

const (
	artifactPage   = "/artifacts/" + artifactID
	comparisonPage = artifactPage + "/compare"
)

// did are the calls of a house that changed something, and the minting of addresses.
func did(s *house) []string {
	return slices.DeleteFunc(slices.Clone(s.calls), func(call string) bool {
		verb, _, _ := strings.Cut(call, " ")
		return slices.Contains([]string{"Web", "Newest", "Count", "Sessions", "Audit", "Preview", "Find", "List", "Of", "Overview", "Latest", "Pinned", "Revision", "Review"}, verb)
	})
}

func TestTheViewerShowsEverythingUnseenAlike(t *testing.T) {
	seen := func(scene, path string) (int, string) {
		s := newHouse()
		s.scene = scene
		r := signedIn(s.handler(), "GET", path, nil, "X-Request-Id", "request-17")
		h := ""
		for _, name := range []string{"Content-Type", "Cache-Control", "Referrer-Policy", policyHeader, "Content-Length", "Location"} {
			h += name + "=" + r.Header.Get(name) + "\n"
		}
		return r.StatusCode, h + text(t, r)
	}
	_, want := seen("", "/v/"+strangeID)
	if !strings.Contains(want, "Nothing on show here") {
		t.Fatal(want)
	}
	for name, tt := range map[string]struct{ scene, path string }{
		"malformed": {"", "/v/nothing"}, "hostile": {"", "/v/%22%3E%3Cscript%3E"}, "expired": {ended, "/v/" + artifactID}, "draft": {draft, "/v/" + artifactID},
		"an unknown revision":  {"", "/v/" + artifactID + "?revision=rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z0"},
		"a malformed revision": {"", "/v/" + artifactID + "?revision=x"}, "a draft revision": {"", "/v/" + artifactID + "?revision=" + draftID},
		"a revision without files": {"", "/v/" + artifactID + "?revision=" + firstID}, "a revision of somebody else's": {"", "/v/" + strangeID + "?revision=" + oldID},
	} {
		if status, got := seen(tt.scene, tt.path); status != 404 || got != want {
			t.Errorf("%s: %d\n%s", name, status, got)
		}
	}
	r := signedIn(newHouse().handler(), "GET", "/v/"+strangeID, nil, "Accept", "application/json")
	if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, `"code":"not_found"`) {
		t.Errorf("a program sees %d %s", r.StatusCode, body)
	}
}

func TestTheViewerShowsNothingOfWhatTheOperatorClosed(t *testing.T) {
	for _, path := range []string{"/v/" + artifactID, "/v/" + artifactID + "?revision=" + oldID} {
		s := newHouse()
		s.scene = closed
		r := signedIn(s.handler(), "GET", path, nil)
		if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, "Closed by the operator") ||
			!strings.Contains(body, artifactPage) ||
			strings.Contains(body, s.contentURL) || strings.Contains(r.Header.Get(policyHeader), "frame-src") {
			t.Errorf("%s: %d %v\n%s", path, r.StatusCode, r.Header, body)
		}
		r = signedIn(s.handler(), "GET", path, nil, "Accept", "application/json")
		if body := text(t, r); r.StatusCode != 404 || strings.Contains(body, s.contentURL) {
			t.Errorf("a program sees %d %s", r.StatusCode, body)
		}
	}
}

func TestTheViewerKnowsItsRevision(t *testing.T) {
	s := newHouse()
	h := s.handler()
	newest := text(t, signedIn(h, "GET", "/v/"+artifactID, nil))
	if !strings.Contains(newest, s.contentURL+"/v/scripts/report.html") || strings.Contains(newest, "not the newest") {
		t.Errorf("the newest:\n%s", newest)
	}
	if body := text(t, signedIn(h, "GET", "/v/"+artifactID+"?revision="+newestID, nil)); body != newest {
		t.Error("the newest by its name looks different")
	}
	old := text(t, signedIn(h, "GET", "/v/"+artifactID+"?revision="+oldID, nil))
	if !strings.Contains(old, s.contentURL+"/v/plain/report.html") || !strings.Contains(old, "not the newest") {
		t.Errorf("the older one:\n%s", old)
	}
}

func TestAnArtifactsPage(t *testing.T) {
	for scene, tt := range map[string]struct{ has, lacks []string }{
		"": {
			[]string{"Unlisted", "Revision 3", "Files removed", "Draft", "/v/" + artifactID + "?revision=" + oldID, `href="/v/` + artifactID + `"`, `value="` + oldID + `"`,
				"Link to revision 2", linkPath + "/revoke", linkPath + "/address", "Make it private", "/pin\"", "/delete"},
			[]string{firstID + `">`, `value="share"`, "Turn the links back on", "/unpin", "Make it unlisted"},
		},
		private: {[]string{"Private", "Make it unlisted", `value="share"`, "Revoked", "Expired"}, []string{"Make it private", linkPath, "/address"}},
		locked:  {[]string{"Links off", "Turn the links back on", "Make it private", linkPath + "/revoke"}, []string{"Make the link", "/address"}},
		pinned:  {[]string{"Pinned", "not while it is pinned", "/unpin"}, []string{"/pin\""}},
		deleted: {[]string{"has ended", "Nobody any more", `<dt>Ended</dt><dd><time datetime="2026-03-14T10:00:00Z"`}, []string{"<form class", "/delete", "/revoke", "/address", "/v/"}},
		ended:   {[]string{"has ended", "Nobody any more"}, []string{"<form class", "/delete", "/revoke", "/address", "/v/"}},
		draft:   {[]string{"not published yet", "until a revision is published", "/delete"}, []string{"/links", "/pin", "/title", "/v/"}},
		closed:  {[]string{"closed by the operator", "while it is closed", "Make it private", "/delete"}, []string{"Make the link", "/pin", "/v/", "/address", "Unlisted"}},
	} {
		s := newHouse()
		s.scene = scene
		r := signedIn(s.handler(), "GET", artifactPage, nil)
		body := text(t, r)
		_, body, _ = strings.Cut(body, "<main")
		for _, want := range tt.has {
			if r.StatusCode != 200 || !strings.Contains(body, want) {
				t.Errorf("%s: %d, lacks %q", scene, r.StatusCode, want)
			}
		}
		for _, bad := range tt.lacks {
			if strings.Contains(body, bad) {
				t.Errorf("%s: holds %q", scene, bad)
			}
		}
	}
	for _, path := range []string{"/artifacts/" + strangeID, "/artifacts/" + strangeID + "/delete", "/artifacts/" + strangeID + "/lockdown", "/artifacts/" + strangeID + "/links/" + shareID + "/revoke"} {
		if r := signedIn(newHouse().handler(), "GET", path, nil); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

func TestAnArtifactsPageOffersItsArchive(t *testing.T) {
	for scene, want := range map[string]string{
		"":     `/b/token" rel="noopener noreferrer" referrerpolicy="no-referrer">Download everything (zip, 2.3 MB)</a>`,
		pinned: "A zip archive of all files is being prepared. Load the page again in 42 seconds to download it.",
	} {
		s := newHouse()
		s.scene = scene
		if body := text(t, signedIn(s.handler(), "GET", artifactPage, nil)); !strings.Contains(body, want) {
			t.Errorf("%q lacks %s\n%s", scene, want, body)
		}
	}
}

func TestWhatFormsDoToAnArtifact(t *testing.T) {
	for path, tt := range map[string]struct {
		want, to string
	}{
		"/pin": {"Pin " + artifactID, artifactPage}, "/unpin": {"Unpin " + artifactID, artifactPage}, "/title": {"Rename " + artifactID, artifactPage},
		"/delete": {"Delete " + artifactID, "/artifacts"}, "/private": {"SetVisibility private", artifactPage + "#links"},
		"/lockdown": {"Lock " + artifactID, artifactPage + "#links"}, "/lockdown/lift": {"Unlock " + artifactID, artifactPage + "#links"},
		"/links/" + shareID + "/revoke": {"RevokeLink " + shareID, artifactPage + "#links"},
	} {
		s := newHouse()
		r := signedIn(s.handler(), "POST", artifactPage+path, doors[artifactPage+path])
		if r.StatusCode != 303 || r.Header.Get("Location") != tt.to || !slices.Equal(did(s), []string{tt.want}) {
			t.Errorf("%s: %d to %q, did %v", path, r.StatusCode, r.Header.Get("Location"), did(s))
		}
		for _, c := range s.commands {
			if c.Key.Target != artifactID || c.Key.Client != "page-0123456789" || c.Key.Actor != string(memberID) {
				t.Errorf("%s: command %+v", path, c)
			}
		}
		s.fail = fault.New(fault.NotFound, "gone")
		twice := signedIn(s.handler(), "POST", artifactPage+path, doors[artifactPage+path]).StatusCode
		if want := map[bool]int{true: 303, false: 404}[strings.HasSuffix(path, "/revoke")]; twice != want {
			t.Errorf("%s a second time: %d", path, twice)
		}
	}
	for _, tt := range []struct {
		err error
		why string
	}{
		{fault.New(fault.NotFound, "the access links of this artifact are locked; unlock them first"), "Nothing was changed: the access links of this artifact are locked; unlock them first."},
		{fault.NewCode(fault.ArtifactNotFound), "Nothing was changed: it may have ended or been deleted meanwhile."},
		{fault.NewCode(fault.RevisionRetained), "Nothing was changed: it may have ended or been deleted meanwhile."},
	} {
		for _, path := range []string{"/links", "/unlisted", "/private", "/lockdown", "/lockdown/lift", "/pin", "/unpin", "/title", "/delete"} {
			s := newHouse()
			s.fail = tt.err
			r := signedIn(s.handler(), "POST", artifactPage+path, doors[artifactPage+path])
			if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, tt.why) ||
				!strings.Contains(body, `href="`+artifactPage+`"`) {
				t.Errorf("%s is refused for %v: %d\n%s", path, tt.err, r.StatusCode, body)
			}
		}
	}
	s := newHouse()
	s.fail = fault.NewCode(fault.PinnedArtifactCap)
	if r := signedIn(s.handler(), "POST", artifactPage+"/pin", doors[artifactPage+"/pin"]); r.StatusCode != 409 ||
		!strings.Contains(text(t, r), "Unpin another one") {
		t.Errorf("too many pins: %d", r.StatusCode)
	}
	s = newHouse()
	r := signedIn(s.handler(), "POST", artifactPage+"/title", url.Values{"title": {"  "}})
	if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, "1 to 160 characters") ||
		!strings.Contains(body, `value="  "`) || s.title2 != "" {
		t.Errorf("an empty title: %d", r.StatusCode)
	}
}

func TestMakingPrivateTellsWhatStaysReachable(t *testing.T) {
	body := text(t, signedIn(newHouse().handler(), "GET", artifactPage+"/private", nil))
	if !strings.Contains(body, "work until the artifact ends, for about 14 days at most; deleting it ends them at once.") {
		t.Errorf("the question promises too much:\n%s", body)
	}
}

func TestTheTitleToChangeIsTheStoredOne(t *testing.T) {
	s := newHouse()
	s.title = "gpj\u202Eexe " + strings.Repeat("ä", 210)
	body := text(t, signedIn(s.handler(), "GET", artifactPage, nil))
	if !strings.Contains(body, `value="`+s.title+`"`) || strings.Count(body, "\u202E") != 1 {
		t.Errorf("the form changes what nobody asked for:\n%s", body)
	}
}

func TestLinksAreShownWithTheirAddressOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		scene, path string
		fields      url.Values
		wanted      contract.CreateLink
		has         string
	}{
		"a share link":       {private, "/links", url.Values{"shows": {"share"}}, contract.CreateLink{Type: "share"}, "ends on <time datetime=\"2026-03-17T12:00:00Z\""},
		"one that was there": {"", "/links", url.Values{"shows": {"share"}, "ends": {"1h"}}, contract.CreateLink{Type: "share", ExpiresAt: new(contract.At(noon.Add(time.Hour)))}, "ends on <time datetime=\"2026-03-15T08:00:00Z\""},
		"a revision link": {
			"", "/links", url.Values{"shows": {oldID}, "ends": {"1h"}}, contract.CreateLink{Type: "revision", RevisionID: oldID, ExpiresAt: new(contract.At(noon.Add(time.Hour)))},
			"ends on <time datetime=\"2026-03-14T13:00:00Z\"",
		},
		"a fresh address": {"", "/links/" + pinnedID + "/address", nil, contract.CreateLink{}, "until <time datetime=\"2026-03-14T14:00:00Z\""},
		"unlisted":        {private, "/unlisted", nil, contract.CreateLink{}, "until <time datetime=\"2026-03-15T12:00:00Z\""},
	} {
		s := newHouse()
		s.scene = tt.scene
		if name == "one that was there" { // with an end of its own, whatever was asked for
			s.linkEnd = noon.Add(20 * time.Hour)
		}
		host, lines := s.host()
		h := host.Handler()
		if tt.fields != nil {
			tt.fields.Set("once", "page-0123456789")
		}
		r := signedIn(h, "POST", artifactPage+tt.path, tt.fields)
		body := text(t, r)
		if r.StatusCode != 200 || strings.Count(body, ">"+linkAddress+"<") != 1 || !strings.Contains(body, tt.has) ||
			!strings.Contains(body, "shown only once") {
			t.Errorf("%s: %d\n%s", name, r.StatusCode, body)
		}
		if r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Referrer-Policy") != "no-referrer" ||
			strings.Contains(lines.String(), blob) {
			t.Errorf("%s: the secret gets about: %v %s", name, r.Header, lines)
		}
		if got, want := s.wanted, tt.wanted; got.Type != want.Type || got.RevisionID != want.RevisionID ||
			(got.ExpiresAt == nil) != (want.ExpiresAt == nil) || got.ExpiresAt != nil &&
			!got.ExpiresAt.Equal(want.ExpiresAt.Time) {
			t.Errorf("%s: asked for %+v", name, got)
		}
		if page := text(t, signedIn(h, "GET", artifactPage, nil)) + text(t, signedIn(h, "GET", "/access-links", nil)); strings.Contains(page, blob) {
			t.Errorf("%s: the secret is shown again", name)
		}
	}
	for path, fields := range map[string]url.Values{"/links/" + pinnedID + "/address": nil, "/unlisted": nil} {
		s := newHouse()
		h, _ := s.host()
		h.Links = elsewhere{doorkeeper{s}}
		if r := signedIn(h.Handler(), "POST", artifactPage+path, fields); r.StatusCode != 404 ||
			strings.Contains(text(t, r), linkAddress) {
			t.Errorf("%s shows a link of another artifact: %d", path, r.StatusCode)
		}
	}
	for name, fields := range map[string]url.Values{
		"no name": {"shows": {"share"}}, "another end": {"shows": {"share"}, "ends": {"2h"}, "once": {"page-0123456789"}},
		"no revision": {"shows": {firstID}, "once": {"page-0123456789"}},
	} {
		s := newHouse()
		if r := signedIn(s.handler(), "POST", artifactPage+"/links", fields); r.StatusCode < 400 || r.StatusCode > 404 ||
			slices.Contains(s.calls, "Address "+shareID) {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	s := newHouse()
	s.scene = locked
	if r := signedIn(s.handler(), "POST", linkPath+"/address", nil); r.StatusCode != 404 ||
		!strings.Contains(text(t, r), "no longer opens anything") {
		t.Errorf("a locked link: %d", r.StatusCode)
	}
}

// elsewhere has links that lead to another artifact than the path says.
type elsewhere struct{ doorkeeper }

func (s elsewhere) Address(ctx context.Context, by credential.Actor, l id.Link) (sharing.Address, error) {
	a, err := s.doorkeeper.Address(ctx, by, l)
	a.Artifact.ID = strangeID
	return a, err
}

func TestRightsOfMembersHold(t *testing.T) {
	for path, fields := range doors {
		if !strings.HasPrefix(path, artifactPage) {
			continue
		}
		s := newHouse()
		s.scopes = []credential.Scope{credential.Read}
		want := 403
		if strings.HasSuffix(path, "pin") {
			want = 303
		}
		if r := signedIn(s.handler(), "POST", path, fields); r.StatusCode != want || want == 403 && len(s.calls) > 0 {
			t.Errorf("%s: %d, reached %v", path, r.StatusCode, s.calls)
		}
	}
	for _, path := range []string{"/v/" + artifactID, artifactPage, "/access-links"} {
		s := newHouse()
		s.scopes = []credential.Scope{credential.Publish}
		if r := signedIn(s.handler(), "GET", path, nil); r.StatusCode != 403 || len(s.calls) > 0 {
			t.Errorf("%s: %d, reached %v", path, r.StatusCode, s.calls)
		}
	}
}

func TestAllLinksOfAWorkspace(t *testing.T) {
	body := text(t, signedIn(newHouse().handler(), "GET", "/access-links", nil))
	for _, want := range []string{
		"Seals of the bay", strangeID, `aria-current="page">Access links`, "Share link", "Live", "Revoked", "Expired", linkPath + "/revoke",
		`datetime="2026-03-17T12:00:00Z" title="17 March 2026, 12:00 UTC">in 3 days</time>, with the artifact`, `datetime="2026-03-14T14:00:00Z"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(body, "/artifacts/"+strangeID+"/links/") || strings.Contains(body, ">Older</a>") {
		t.Error("links that are over can be acted on, or others are said to follow")
	}
	for scene, state := range map[string]string{locked: "Locked", closed: "Locked", ended: "Ended", deleted: "Ended"} {
		s := newHouse()
		s.scene, s.more = scene, true
		for _, path := range []string{"/access-links", artifactPage} {
			body := text(t, signedIn(s.handler(), "GET", path, nil))
			if strings.Contains(body, ">Live<") || strings.Contains(body, "/address") || strings.Count(body, ">"+state+"<") < 2 {
				t.Errorf("%s, %s: a link that opens nothing looks live", path, scene)
			}
			if !strings.Contains(body, path+"?after=next%2Bcursor") {
				t.Errorf("%s: the list looks complete", path)
			}
		}
	}
}

func TestThePageShowsWhatMayNotWork(t *testing.T) {
	s := newHouse()
	if page := text(t, signedIn(s.handler(), "GET", artifactPage, nil)); strings.Contains(page, "What may not work") {
		t.Error("a page without findings speaks of some")
	}
	s.scene = warned
	page := text(t, signedIn(s.handler(), "GET", artifactPage, nil))
	for _, want := range []string{
		"What may not work", "line 12", "low-tide", "connect-src blocks requests to https://api.example.com", "And 3 more", ">Hint<",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "\u202e") {
		t.Error("a path turns the direction of writing")
	}
}
