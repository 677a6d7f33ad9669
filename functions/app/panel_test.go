package app

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/view"
)

const (
	qrPath   = "/api/access-links/qr"
	linkPage = "/al/" + publicID
)

func TestACodeIsDrawnForLinksAlone(t *testing.T) {
	h, lines := host(func(context.Context, contract.ResolveRequest, bool) (view.View, error) {
		t.Error("a link was opened to draw it")
		return view.View{}, nil
	})
	handler := h.Handler()
	r := send(handler, "POST", qrPath, opening, "Content-Type", "application/json")
	expect.Lacks(t, "the code", wantAnswer(t, "the code", r, 200, "<svg "), blob)
	wantHeaders(t, "the code", r, "Content-Type", "image/svg+xml", "Cache-Control", "no-store")
	wrong := strings.Replace(opening, blob, "wrong", 1)
	body := wantAnswer(t, "a wrong secret", send(handler, "POST", qrPath, wrong), 404)
	expect.Lacks(t, "a wrong secret", body, "<svg")
	expect.Lacks(t, "the log", lines.String(), blob)
}

// paste sends the form of the page of a link.
func paste(t *testing.T, h *Host, target, pasted string) (int, map[string][]string, string) {
	t.Helper()
	r := send(h.Handler(), "POST", target, url.Values{"link": {pasted}}.Encode(), "Content-Type", formType)
	return r.StatusCode, r.Header, text(t, r)
}

func TestAPastedLinkOpensInThePage(t *testing.T) {
	var got contract.ResolveRequest
	h, lines := host(func(_ context.Context, q contract.ResolveRequest, _ bool) (view.View, error) {
		got = q
		return paged(view.View{
			Artifact:   artifact.Artifact{ExpiresAt: noon, CreatedAt: noon.Add(-time.Hour)},
			Revision:   artifact.Revision{ID: newestID, Entrypoint: "report.html", Mode: media.HTML},
			Title:      "Seals <of> the bay",
			Entrypoint: address.FileURLs{Bytes: "http://127.0.0.1:8703/v/token/report.html"},
			Frame:      "http://127.0.0.1:8703/v/token/report.html",
			Files: []view.File{
				fileAt("report.html", "http://127.0.0.1:8703/v/token/report.html", 18_412),
				fileAt("a.csv", "http://127.0.0.1:8703/v/token/a.csv", 2_340_000),
			},
			Bundle: readyBundle("http://127.0.0.1:8703/b/token"),
		}, "http://127.0.0.1:8703", q.FilesCursor)
	})
	whole := "http://localhost:8704" + linkPage + "#" + blob
	for _, pasted := range []string{whole, "  " + whole + "\n", "#" + blob, blob, linkPage + "#" + blob} {
		status, header, body := paste(t, h, linkPage, pasted)
		if status != 200 || got != (contract.ResolveRequest{PublicID: publicID, Blob: blob}) {
			t.Fatalf("%q: %d, opened %+v\n%s", pasted, status, got, body)
		}
		expect.Has(t, pasted, body,
			`<iframe src="http://127.0.0.1:8703/v/token/report.html"`, "Seals &lt;of&gt; the bay", ">Page<", ">Table<", "2.4 MB",
			`href="http://127.0.0.1:8703/v/token/a.csv"`, `href="http://127.0.0.1:8703/b/token"`, "14 March 2026, 12:00 UTC",
			`href="/report?link=`+publicID+`"`, `aria-label="QR code of the link"`, blob,
		)
		expect.Lacks(t, "the page", body, "<script")
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow",
			policyHeader: policyViewer("http://127.0.0.1:8703"),
		} {
			if got := strings.Join(header[name], ""); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	other := "ZZZZZZZZZZZZZZZZ"
	if _, _, _ = paste(t, h, linkPage, "http://localhost:8704/al/"+other+"#"+blob); string(got.PublicID) != other {
		t.Errorf("a link pasted on the page of another one opens %s", got.PublicID)
	}
	expect.Lacks(t, "the log", lines.String(), blob)
}

func TestAPastedLinkThatDoesNotOpenShowsOnePage(t *testing.T) {
	good := "http://localhost:8704" + linkPage + "#" + blob
	h, _ := host(refuses(fault.New(fault.NotFound, "expired")))
	status, _, want := paste(t, h, linkPage, good)
	if status != 404 || !strings.Contains(want, "This link opens nothing") {
		t.Fatalf("%d %s", status, want)
	}
	for name, tt := range map[string]struct {
		err    error
		pasted string
	}{
		"deleted":   {fault.NewCode(fault.ArtifactNotFound), good},
		"locked":    {fault.NewCode(fault.Forbidden), good},
		"malformed": {fault.NewCode(fault.InvalidRequest), good},
		"empty":     {nil, ""},
		"wrong":     {nil, "http://localhost:8704" + linkPage + "#wrong"},
		"no link":   {nil, "wrong"},
	} {
		h, _ := host(refuses(tt.err))
		if status, _, body := paste(t, h, linkPage, tt.pasted); status != 404 || body != want {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	h, _ = host(refuses(fault.NewCode(fault.RateLimitedArtifact).After(90 * time.Second)))
	status, header, body := paste(t, h, linkPage, good)
	if status != 429 || strings.Join(header["Retry-After"], "") != "90" ||
		!strings.Contains(body, "Try again in 90 seconds") {
		t.Errorf("too often: %d %v %s", status, header, body)
	}
	h, lines := host(refuses(fault.Wrap(fault.DatabaseUnavailable, errNoObject, "secret %s", blob)))
	if status, _, body := paste(t, h, linkPage, good); status != 503 || strings.Contains(body+lines.String(), blob) {
		t.Errorf("unavailable: %d %s\n%s", status, body, lines)
	}
	two := send(h.Handler(), "POST", linkPage, "link=x&link=y", "Content-Type", formType)
	wantAnswer(t, "a form with two links", two, 400)
	foreign := send(h.Handler(), "POST", linkPage, "link="+blob, "Content-Type", formType, "Sec-Fetch-Site", "cross-site")
	wantAnswer(t, "a form of another site", foreign, 403)
}

func TestThePrivatePanelIsRenderedByTheServer(t *testing.T) {
	s := newServices()
	s.views.bundle = readyBundle(s.contentURL + "/b/token")
	h, _ := s.host()
	h.Origins.MCP = "http://localhost:8705"
	body := text(t, signedIn(h.Handler(), "GET", "/v/"+artifactID, nil))
	expect.Has(t, "the panel", body,
		">Page<", ">Table<", "2, 2.4 MB", `href="`+s.contentURL+`/b/token"`, "zip, <span data-field=\"bundle-size\">1.3 MB",
		`aria-label="QR code of the link"`, s.appURL+"/v/"+artifactID+"</code>", "vitrine pull "+artifactID+" PATH",
		"With MCP at http://localhost:8705: call read_artifact with artifact_id "+artifactID+".",
		"http://localhost:8701/v1/artifacts/"+artifactID+"/revisions/"+newestID+"/agent-view",
		`href="/v/`+artifactID+`"><bdi>Revision 3</bdi> (newest)`, `href="/v/`+artifactID+"?revision="+oldID+`"><bdi>Revision 2</bdi>`,
		`href="/report?artifact=`+artifactID+`"`,
	)
	expect.Lacks(t, "the page", body, "Revision 1<", draftID)
	old := text(t, signedIn(h.Handler(), "GET", "/v/"+artifactID+"?revision="+oldID, nil))
	expect.Has(t, "of an older revision the panel", old,
		s.appURL+"/v/"+artifactID+"?revision="+oldID+"</code>", "vitrine show "+artifactID+" --revision-id "+oldID,
		`<li aria-current="true"><a href="/v/`+artifactID+"?revision="+oldID, `data-revision="`+oldID+`"`,
	)
}

func TestThePanelSaysHowFarTheArchiveIs(t *testing.T) {
	for state, want := range map[artifact.BundleStatus]string{
		"ready": "ready", "pending": "pending", "failed": "failed", "disabled": "", "": "",
	} {
		s := newServices()
		s.views.bundle = artifact.Availability{
			Status:     state,
			URL:        s.contentURL + "/b/token",
			Size:       1,
			RetryAfter: 45 * time.Second,
		}
		body := text(t, signedIn(s.handler(), "GET", "/v/"+artifactID, nil))
		var shows []string
		for _, one := range []string{"ready", "pending", "failed"} {
			if strings.Contains(body, `data-state="`+one+`">`) {
				shows = append(shows, one)
			}
		}
		if got := strings.Join(shows, " "); got != want {
			t.Errorf("%q: the panel shows %q, want %q", state, got, want)
		}
		if strings.Contains(body, `data-retry="45"`) != (state == "pending") {
			t.Errorf("%q: the script asks again, or does not", state)
		}
	}
}

func TestThePanelListsTheNewestRevisions(t *testing.T) {
	body := page(t, "/v/"+artifactID, func(s *fakeServices) {
		for range 30 {
			s.revisions = append(s.revisions, artifact.Revision{ID: id.NewRevision(), Status: artifact.Published})
		}
	})
	if n := strings.Count(body, "<bdi>Revision "); n != listedRevisions || !strings.Contains(body, "All revisions") {
		t.Errorf("the panel lists %d revisions", n)
	}
}
