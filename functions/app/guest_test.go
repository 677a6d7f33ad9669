package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/feedback"
)

const (
	lettersPath = "/api/access-links/feedback"
	talksPath   = lettersPath + "/threads"
	guestLink   = `"public_id":"` + publicID + `","blob":"` + blob + `"`
)

func TestALetterOfAGuestIsTaken(t *testing.T) {
	lines := feedback.Anchor{Kind: feedback.OnLines, From: 3, To: 5}
	quote := feedback.Anchor{Kind: feedback.OnText, Exact: "low tide"}
	for name, c := range map[string]struct {
		body string
		want feedback.Letter
	}{
		"the first": {
			`"name":"Grace","key":"k1","body":"Which unit?","path":"a.csv","anchor":{"kind":"lines","from":3,"to":5}`,
			feedback.Letter{Name: "Grace", Key: "k1", Remark: feedback.Remark{Body: "Which unit?", Path: "a.csv", Anchor: lines}},
		},
		"about a revision": {
			`"name":"Grace","body":"x","path":"a.md","revision_id":"` + oldID + `","anchor":{"kind":"text","exact":"low tide"}`,
			feedback.Letter{Name: "Grace", Remark: feedback.Remark{Body: "x", Path: "a.md", Revision: oldID, Anchor: quote}},
		},
		"a reply": {
			`"token":"` + guestToken + `","name":"Grace","body":"Yes","thread_id":"` + openThread + `","more":[1]`,
			feedback.Letter{Token: guestToken, Name: "Grace", Thread: openThread, Remark: feedback.Remark{Body: "Yes"}},
		},
	} {
		g := &fakeGuests{}
		h, lines := newServices().host()
		h.Guests = g
		r := send(h.Handler(), "POST", lettersPath, "{"+guestLink+","+c.body+"}")
		body := wantAnswer(t, name, r, 201, `{"token":"`+guestToken+`","thread_id":"thr_`, `"held":true}`)
		wantHeaders(t, name, r, "Cache-Control", "no-store")
		got := g.sent()
		if !got.From.IsValid() || got.RequestID == "" {
			t.Errorf("%s: sent %+v", name, got)
		}
		got.From, got.RequestID = c.want.From, ""
		c.want.Public, c.want.Blob = publicID, blob
		if got != c.want || c.want.Thread != "" && !strings.Contains(body, openThread) {
			t.Errorf("%s: sent %+v\nwant %+v", name, got, c.want)
		}
		expect.Lacks(t, "the log", lines.String(), blob, guestToken, "Grace")
	}
}

func TestALetterThatIsMalformedReachesNobody(t *testing.T) {
	for name, body := range map[string]string{
		"no object":    `[]`,
		"no link":      `{"name":"Grace","body":"x"}`,
		"a name twice": `{` + guestLink + `,"name":"a","name":"b"}`,
		"a number":     `{` + guestLink + `,"name":1}`,
		"no anchor":    `{` + guestLink + `,"anchor":"file"}`,
		"no challenge": `{` + guestLink + `,"challenge":1}`,
		"no counter":   `{` + guestLink + `,"counter":-1}`,
		"no token":     `{` + guestLink + `,"token":[]}`,
		"far too long": `{` + guestLink + `,"body":"` + strings.Repeat("x", 64<<10) + `"}`,
	} {
		g := &fakeGuests{}
		h, _ := newServices().host()
		h.Guests = g
		wantAnswer(t, name, send(h.Handler(), "POST", lettersPath, body), 400, `"code":"invalid_request"`)
		if len(g.letters) > 0 {
			t.Errorf("%s: sent %+v", name, g.letters)
		}
	}
}

func TestALetterThatIsRefusedSaysWhatToDo(t *testing.T) {
	missing := fault.New(fault.InvalidRequest, "anchor_not_found: the last line is 3")
	for name, c := range map[string]struct {
		err    error
		status int
		says   []string
		wait   string
	}{
		"not there":  {missing, 400, []string{`"The last line is 3."`}, ""},
		"too much":   {fault.New(fault.FeedbackConflict, "the thread is resolved"), 409, []string{`"feedback_conflict"`}, ""},
		"too often":  {fault.NewCode(fault.RateLimitedActor).After(time.Minute), 429, []string{`"rate_limited_actor"`}, "60"},
		"a closed":   {fault.New(fault.NotFound, "revoked %s", blob), 404, []string{`"code":"not_found"`}, ""},
		"a locked":   {fault.New(fault.Forbidden, "locked"), 404, []string{`"code":"not_found"`}, ""},
		"a mistake":  {errors.New("cannot read " + blob), 503, []string{`"database_unavailable"`}, ""},
		"no solving": {fault.NewCode(fault.PowInvalid), 400, []string{`"pow_invalid"`}, ""},
	} {
		h, lines := newServices().host()
		h.Guests = &fakeGuests{refusal: c.err}
		r := send(h.Handler(), "POST", lettersPath, `{`+guestLink+`,"name":"Grace","body":"x"}`)
		expect.Lacks(t, name, wantAnswer(t, name, r, c.status, c.says...), blob, "challenge")
		wantHeaders(t, name, r, "Retry-After", c.wait)
		expect.Lacks(t, name+", in the log", lines.String(), blob)
	}
}

func TestABusyLinkAsksAGuestForWork(t *testing.T) {
	g := &fakeGuests{bits: 8, wait: 7 * time.Minute}
	h, _ := newServices().host()
	h.Guests = g
	ask := `{` + guestLink + `,"name":"Grace","body":"x"`
	r := send(h.Handler(), "POST", lettersPath, ask+"}")
	wantHeaders(t, "the answer", r, "Retry-After", "420")
	body := wantAnswer(t, "the answer", r, 429, `"code":"pow_required"`, `"difficulty":8`)
	var told struct{ Challenge json.RawMessage }
	expect.OK(t, json.Unmarshal([]byte(body), &told))
	taken := 0
	for counter := range 5000 {
		r := send(h.Handler(), "POST", lettersPath, fmt.Sprintf(`%s,"challenge":%s,"counter":%d}`, ask, told.Challenge, counter))
		if r.StatusCode == http.StatusCreated {
			taken++
			break
		}
	}
	if proof := g.sent().Proof; taken != 1 || proof.Challenge.Difficulty != 8 ||
		proof.Solution.Nonce != proof.Challenge.Nonce {
		t.Errorf("taken %d, %+v", taken, proof)
	}
}

func TestAGuestReadsWhatWasLetThrough(t *testing.T) {
	g := &fakeGuests{}
	g.seals()
	h, lines := newServices().host()
	h.Guests = g
	r := send(h.Handler(), "POST", talksPath, `{`+guestLink+`,"token":"`+guestToken+`"}`)
	body := wantAnswer(t, "the answer", r, 200, `"seq":9,"writes":true`,
		`{"id":"`+openThread+`","state":"open","about":{"kind":"lines","path":"data/`+longName+`.csv","from":12,"to":14}`,
		`"trust":"agent"`, `"trust":"guest"`, `"hidden":7,"own":true`, `"deleted":true`, `"quote":"harbour`+"\uFFFD"+` seals"`,
		`{"id":"`+heldThread+`","state":"held","about":{"kind":"artifact"},"messages":[{"author":"Grace `+"\uFFFD"+`of the bay"`,
		`{"id":"`+openThread+`","state":"held","reply":true,"about":{"kind":"file","path":"report.html"},"messages":[`)
	expect.Lacks(t, "the answer", body, "\u202e")
	expect.Lacks(t, "the log", lines.String(), blob, guestToken)
	body = text(t, send(h.Handler(), "POST", talksPath, `{`+guestLink+`}`))
	expect.Has(t, "without a token", body, `"waiting":[]`)

	g.gone = true
	const none = `{"seq":0,"writes":false,"threads":[],"waiting":[]}`
	wantAnswer(t, "a link that is gone", send(h.Handler(), "POST", talksPath, `{`+guestLink+`}`), 200, none)
	wantAnswer(t, "no link", send(h.Handler(), "POST", talksPath, `{}`), 400)
	h.Guests = nil
	wantAnswer(t, "where nobody writes", send(h.Handler(), "POST", talksPath, `{`+guestLink+`}`), 200, none)
	wantAnswer(t, "a letter there", send(h.Handler(), "POST", lettersPath, `{`+guestLink+`}`), 404, `"code":"not_found"`)
}
