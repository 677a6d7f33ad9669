package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/view"
)

func TestViewerRefusesHostileIds(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	for _, bad := range []string{
		"a", "0123456789abcdef", "0123456789ABCDEI", publicID + "0", publicID[1:], "%3Cscript%3E", "%00", "%22%3E%3Cimg", strings.Repeat("A", 5000),
		"al_01234567890123456789012345", "..%2f..%2fetc", "javascript:alert(1)",
	} {
		r := send(handler, "GET", "/al/"+bad, "")
		expect.Lacks(t, bad, wantAnswer(t, bad, r, 404), "data-public-id", "<img")
	}
}

func TestResolveForwardsTheLinkAlone(t *testing.T) {
	var got contract.ResolveRequest
	h, _ := host(func(_ context.Context, q contract.ResolveRequest, _ bool) (view.View, error) {
		got = q
		return view.View{}, nil
	})
	body := `{"workspace_id":"w","public_id":"` + publicID + `","PUBLIC_ID":"other","blob":"` + blob + `","nested":{"blob":"x"}}`
	wantAnswer(t, "the answer", send(h.Handler(), "POST", "/api/access-links/resolve", body), 200)
	if want := (contract.ResolveRequest{PublicID: publicID, Blob: blob}); got != want {
		t.Errorf("forwarded %+v, want %+v", got, want)
	}
}

// TestBadBodiesAreRefused sends them to all that read a link.
func TestBadBodiesAreRefused(t *testing.T) {
	set := &fakeLive{}
	h, _ := host(func(context.Context, contract.ResolveRequest, bool) (view.View, error) {
		t.Error("a bad body got through")
		return view.View{}, nil
	})
	h.Live = set
	handler := h.Handler()
	link := func(members string) string { return `{"public_id":"` + publicID + `"` + members + `}` }
	for _, body := range []string{
		"", "x", "null", `["public_id","` + publicID + `"]`, `"x"`, // no object
		opening + "}", opening + opening, opening[:len(opening)-1], // not one
		`{"blob":"a","public_id":"` + publicID + `","blob":"b","revision_id":"` + oldID + `"}`, // twice
		link(""), link(`,"blob":""`), link(`,"blob":null`), link(`,"blob":["x"]`), `{"blob":"x"}`, // no blob, no id
		link(`,"revision_id":"` + oldID + `"`), link(`,"blob":"` + strings.Repeat("x", 65<<10) + `"`),
	} {
		for _, target := range []string{"/api/access-links/resolve", qrPath, sharePoll} {
			r := send(handler, "POST", target, body)
			wantAnswer(t, fmt.Sprintf("%s with %.70s", target, body), r, 400, `"code":"invalid_request"`)
		}
	}
	if set.asked != "" {
		t.Errorf("a bad body asked for %q", set.asked)
	}
	for target, body := range map[string]string{
		"/api/access-links/resolve": opening, qrPath: opening, sharePoll: polling,
	} {
		wantAnswer(t, target+" takes text", send(handler, "POST", target, body, "Content-Type", "text/plain"), 400)
	}
	for _, bad := range []string{`{"public_id":"x","blob":"x"}`, `{"public_id":1,"blob":"x"}`} {
		wantAnswer(t, bad, send(handler, "POST", "/api/access-links/resolve", bad), 400)
	}
	for _, revision := range []string{`"rev_1"`, "null"} {
		r := send(handler, "POST", sharePoll, `{"blob":"x","revision_id":`+revision+`}`)
		wantAnswer(t, "a poll of the revision "+revision, r, 400)
	}
	wantAnswer(t, "a member's poll without a revision", send(handler, "GET", "/api/live/artifacts/"+artifactID, ""), 400)
}

// refusal is how a script is told of an error of the core.
type refusal struct {
	name       string
	err        error
	status     int
	code       string
	retryAfter string
}

func TestResolveFailures(t *testing.T) {
	var gone string // what every link that opens nothing is answered
	quoting := errors.New(`Post "https://table.example/?token=abc": refused; blob ` + blob)
	for _, tt := range []refusal{
		{"not found", fault.New(fault.NotFound, "link %s expired", blob), 404, "not_found", ""},
		{"artifact not found", fault.New(fault.ArtifactNotFound, "deleted"), 404, "not_found", ""},
		{"retained", fault.New(fault.RevisionRetained, "gone"), 404, "not_found", ""},
		{"forbidden", fault.New(fault.Forbidden, "locked"), 404, "not_found", ""},
		{"invalid", fault.New(fault.InvalidRequest, "The blob has no meaning."), 400, "invalid_request", ""},
		{"limited", fault.NewCode(fault.RateLimitedArtifact).After(12300 * time.Millisecond), 429, "rate_limited_artifact", "13"},
		{"limited, no hint", fault.NewCode(fault.RateLimitedArtifact), 429, "rate_limited_artifact", "60"},
		{"unavailable", fault.Wrap(fault.DatabaseUnavailable, quoting, "down"), 503, "database_unavailable", ""},
		{"unclassified", quoting, 503, "database_unavailable", ""},
		{"conflict", fault.NewCode(fault.UploadIncomplete), 503, "database_unavailable", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, lines := host(refuses(tt.err))
			r := send(h.Handler(), "POST", "/api/access-links/resolve", opening, "X-Request-Id", "request-17")
			body := text(t, r)
			var got contract.Envelope
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if r.StatusCode != tt.status || got.Error.Code != tt.code || got.Error.Message == "" ||
				got.Error.RequestID != "request-17" {
				t.Errorf("%d %s", r.StatusCode, body)
			}
			if r.Header.Get("Retry-After") != tt.retryAfter || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", r.Header)
			}
			if tt.status == 404 {
				if gone = cmp.Or(gone, body); body != gone {
					t.Errorf("%s tells more than %s", body, gone)
				}
			}
			for _, secret := range []string{blob, publicID, "token=abc", "table.example"} {
				logged := secret != "table.example" && strings.Contains(lines.String(), secret) // the host names nobody's secret
				if strings.Contains(body, secret) || logged {
					t.Errorf("%q shows in\n%s\n%s", secret, body, lines)
				}
			}
			if tt.status == 503 && !strings.Contains(lines.String(), tt.code) {
				t.Errorf("nothing to find the failure by: %s", lines)
			}
		})
	}
}
