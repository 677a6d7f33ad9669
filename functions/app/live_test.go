package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/live"
	"vitrine/shared/publishing/view"
)

// fakeLive answers every poll alike, and keeps what it was asked last. Its zero value has nothing new.
type fakeLive struct {
	mu      sync.Mutex
	pointer *view.Pointer
	pinned  bool
	claimed bool
	// feedback is the newest change of threads, and held what a guest wrote last.
	feedback, held int64
	err            error
	asked          string
}

func (f *fakeLive) Share(_ context.Context, public id.Public, blob string, shown id.Revision) (live.Answer, error) {
	return f.answer(string(public)+" "+blob+" "+string(shown), shown)
}

func (f *fakeLive) Member(
	_ context.Context, by credential.Actor, a id.Artifact, shown id.Revision,
) (live.Answer, error) {
	return f.answer(string(by.Member)+" "+string(a)+" "+string(shown), shown)
}

// set makes a revision the newest.
func (f *fakeLive) set(p *view.Pointer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pointer = p
}

// discuss makes a change of threads the newest, and what a guest wrote the last.
func (f *fakeLive) discuss(seq, held int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.feedback, f.held = seq, held
}

func (f *fakeLive) claim() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claimed = true
}

func (f *fakeLive) answer(asked string, shown id.Revision) (live.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = asked
	if f.err != nil {
		return live.Answer{}, f.err
	}
	answer := live.Answer{
		Wait:         limits.LiveWait,
		Follows:      !f.pinned,
		Claimed:      f.claimed,
		Feedback:     f.feedback,
		FeedbackHeld: f.held,
	}
	if f.pointer != nil && f.pointer.RevisionID != shown {
		answer.Pointer = f.pointer
	}
	return answer, nil
}

const (
	sharePoll  = "/api/live/access-links/" + publicID
	memberPoll = "/api/live/artifacts/" + artifactID + "?revision_id=" + oldID
	polling    = `{"blob":"` + blob + `","revision_id":"` + oldID + `"}`
)

var pointed = view.Pointer{
	RevisionID: newestID,
	IframeSrc:  "http://127.0.0.1:8703/v/x/index.html",
	RenderMode: "html",
	Title:      "Seals",
	Number:     3,
}

// polls sends both polls, each to a host of its own.
func polls(t *testing.T, set *fakeLive, check func(t *testing.T, asked string, r *http.Response, logged string)) {
	t.Helper()
	t.Run("a link", func(t *testing.T) {
		h, lines := host(nil)
		h.Live = set
		r := send(h.Handler(), "POST", sharePoll, polling, "Sec-Fetch-Site", "same-origin")
		check(t, set.asked, r, lines.String())
	})
	t.Run("a member", func(t *testing.T) {
		h, lines := newServices().host()
		h.Live = set
		r := signedIn(h.Handler(), "GET", memberPoll, nil)
		check(t, set.asked, r, lines.String())
	})
}

func TestAPollWithNothingNewSaysWhenToAskAgain(t *testing.T) {
	polls(t, &fakeLive{}, func(t *testing.T, asked string, r *http.Response, logged string) {
		if body := text(t, r); r.StatusCode != 204 || body != "" {
			t.Errorf("%d %q", r.StatusCode, body)
		}
		wantHeaders(t, "the answer", r, "Retry-After", "3", "Cache-Control", "no-store", "Vitrine-Follows", "newest",
			"Vitrine-Claimed", "false")
		if want := publicID + " " + blob + " " + oldID; asked != want && asked != string(memberID)+" "+artifactID+" "+oldID {
			t.Errorf("asked for %q", asked)
		}
		expect.Lacks(t, "the log", logged, blob)
	})
	polls(t, &fakeLive{pinned: true, claimed: true}, func(t *testing.T, _ string, r *http.Response, _ string) {
		wantHeaders(t, "a claimed page of one revision", r, "Vitrine-Follows", "revision", "Vitrine-Claimed", "true")
	})
}

func TestAPollLearnsOfANewerRevision(t *testing.T) {
	want := `{"type":"published_revision","pointer":{"revision_id":"` + newestID +
		`","iframe_src":"http://127.0.0.1:8703/v/x/index.html","render_mode":"html","title":"Seals","number":3}}`
	polls(t, &fakeLive{pointer: &pointed}, func(t *testing.T, _ string, r *http.Response, _ string) {
		if body := text(t, r); r.StatusCode != 200 || body != want || r.Header.Get("Retry-After") != "3" {
			t.Errorf("%d %v\n%s\nwant %s", r.StatusCode, r.Header, body, want)
		}
	})
}

func TestARefusedPollTellsNoReason(t *testing.T) {
	for _, tt := range []refusal{
		{"closed", fault.New(fault.NotFound, "revoked %s", blob), 404, "not_found", ""},
		{"deleted", fault.New(fault.ArtifactNotFound, "deleted"), 404, "not_found", ""},
		{"locked", fault.New(fault.Forbidden, "locked"), 404, "not_found", ""},
		{"too often", fault.NewCode(fault.RateLimitedArtifact).After(time.Minute), 429, "rate_limited_artifact", "60"},
		{"no tables", fault.New(fault.DatabaseUnavailable, "away with %s", blob), 503, "database_unavailable", "15"},
	} {
		polls(t, &fakeLive{err: tt.err}, func(t *testing.T, asked string, r *http.Response, logged string) {
			body := wantAnswer(t, tt.name, r, tt.status, `"code":"`+tt.code+`"`)
			wantHeaders(t, tt.name, r, "Retry-After", tt.retryAfter, "Cache-Control", "no-store")
			if strings.Contains(body, "revoked") || strings.Contains(body, blob) ||
				strings.Contains(asked, blob) && strings.Contains(logged, blob) {
				t.Errorf("%s: %s\n%s", tt.name, body, logged)
			}
		})
	}
}

func TestAMemberWhoIsSignedOutPollsNothing(t *testing.T) {
	set := &fakeLive{}
	h, _ := newServices().host()
	h.Live = set
	r := send(h.Handler(), "GET", memberPoll, "")
	if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, `"code":"not_found"`) || set.asked != "" {
		t.Errorf("%d %s after %q", r.StatusCode, body, set.asked)
	}
}
