package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestViewerRefusesHostileIds(t *testing.T) {
	h, _ := host(resolver(opens))
	handler := h.Handler()
	for _, bad := range []string{
		"a", "0123456789abcdef", "0123456789ABCDEI", publicID + "0", publicID[1:], "%3Cscript%3E", "%00", "%22%3E%3Cimg", strings.Repeat("A", 5000),
		"al_01234567890123456789012345", "..%2f..%2fetc", "javascript:alert(1)",
	} {
		r := send(handler, "GET", "/al/"+bad, "")
		if got := text(t, r); r.StatusCode != 404 || strings.Contains(got, "data-public-id") ||
			strings.Contains(got, "<img") {
			t.Errorf("%.40s: %d\n%s", bad, r.StatusCode, got)
		}
	}
}

func TestResolveForwardsTheLinkAlone(t *testing.T) {
	var got contract.ResolveRequest
	h, _ := host(resolver(func(_ context.Context, r contract.ResolveRequest) (contract.Resolved, error) {
		got = r
		return contract.Resolved{}, nil
	}))
	body := `{"workspace_id":"w","public_id":"` + publicID + `","PUBLIC_ID":"other","blob":"` + blob + `","nested":{"blob":"x"}}`
	if r := send(h.Handler(), "POST", "/api/access-links/resolve", body); r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, text(t, r))
	}
	if want := (contract.ResolveRequest{PublicID: publicID, Blob: blob}); got != want {
		t.Errorf("forwarded %+v, want %+v", got, want)
	}
}

func TestResolveRefusesBadBodies(t *testing.T) {
	h, _ := host(resolver(func(context.Context, contract.ResolveRequest) (contract.Resolved, error) {
		t.Error("a bad body got through")
		return contract.Resolved{}, nil
	}))
	handler := h.Handler()
	for name, body := range map[string]string{
		"empty": "", "not JSON": "x", "null": "null", "an array": `["public_id","` + publicID + `"]`, "a string": `"x"`,
		"no blob": `{"public_id":"` + publicID + `"}`, "empty blob": `{"public_id":"` + publicID + `","blob":""}`,
		"no id": `{"blob":"x"}`, "bad id": `{"public_id":"x","blob":"x"}`, "id is a number": `{"public_id":1,"blob":"x"}`,
		"blob is null": `{"public_id":"` + publicID + `","blob":null}`, "blob is a list": `{"public_id":"` + publicID + `","blob":["x"]}`,
		"twice": `{"blob":"a","public_id":"` + publicID + `","blob":"b"}`, "trailing": opening + "}", "two objects": opening + opening,
		"cut": opening[:len(opening)-1], "65 KiB": `{"public_id":"` + publicID + `","blob":"` + strings.Repeat("x", 65<<10) + `"}`,
	} {
		r := send(handler, "POST", "/api/access-links/resolve", body)
		if got := text(t, r); r.StatusCode != 400 || !strings.Contains(got, `"code":"invalid_request"`) {
			t.Errorf("%s: %d %s", name, r.StatusCode, got)
		}
	}
}

func TestResolveFailures(t *testing.T) {
	quoting := errors.New(`Post "https://table.example/?token=abc": refused; blob ` + blob)
	for _, tt := range []struct {
		name       string
		err        error
		status     int
		code       string
		retryAfter string
	}{
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
