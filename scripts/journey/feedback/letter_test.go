package feedback

import (
	"encoding/json"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// correspondence is a link that takes letters, with a member who reads them.
type correspondence struct {
	*harness.LinkEnv
	artifact id.Artifact
	link     id.Link
	public   id.Public
	blob     string
}

func newCorrespondence(t *testing.T, change ...func(*stack.Options)) *correspondence {
	t.Helper()
	s := harness.NewLinkEnv(t, change...)
	c := &correspondence{LinkEnv: s, artifact: s.Published.ArtifactID}
	c.link = harness.CreateLink(t, s.Agent, c.artifact, contract.CreateLink{Type: "share", Comments: new(true)}).ID
	c.public, c.blob, _ = wire.SplitLink(harness.MintLink(t, s.Agent, c.link))
	c.set(t, contract.SetFeedbackPolicy{Policy: "links"})
	return c
}

// set changes who may write.
func (c *correspondence) set(t *testing.T, r contract.SetFeedbackPolicy) contract.FeedbackPolicy {
	t.Helper()
	return harness.CallAs[contract.FeedbackPolicy](t, c.Member, 200, "PUT", webPath(c.artifact)+"-policy", r,
		harness.KeyHeader()...)
}

// letter is what the page of a link sends.
type letter map[string]any

// try sends a letter that has all that it needs, with what a test changes.
func (c *correspondence) try(t *testing.T, change letter) wire.Answer {
	t.Helper()
	l := letter{"public_id": c.public, "blob": c.blob, "name": "Grace", "key": wire.NewKey(), "body": "Which unit?"}
	for name, value := range change {
		l[name] = value
	}
	return harness.Do(t, c.Anyone, "POST", c.Origins.App+"/api/access-links/feedback", l)
}

// taken is the answer to a letter.
type taken struct {
	Token  string    `json:"token"`
	Thread id.Thread `json:"thread_id"`
	Held   bool      `json:"held"`
}

// send sends a letter that is taken.
func (c *correspondence) send(t *testing.T, change letter) (out taken) {
	t.Helper()
	a := c.try(t, change)
	if a.Status != 201 {
		t.Fatalf("a letter: %d %s", a.Status, a.Body)
	}
	harness.NoError(t, json.Unmarshal(a.Body, &out))
	return out
}

// seen is what a guest sees.
type seen struct {
	Writes  bool
	Threads []struct {
		ID       id.Thread
		Hidden   int
		State    string
		Own      bool
		Messages []struct{ Author, Trust, Text string }
	}
	Waiting []struct{ Messages []struct{ Text string } }
}

func (c *correspondence) sees(t *testing.T, token string) (out seen) {
	t.Helper()
	a := harness.Do(t, c.Anyone, "POST", c.Origins.App+"/api/access-links/feedback/threads",
		letter{"public_id": c.public, "blob": c.blob, "token": token})
	if a.Status != 200 {
		t.Fatalf("a guest looks: %d %s", a.Status, a.Body)
	}
	harness.NoError(t, json.Unmarshal(a.Body, &out))
	return out
}

// list is what members see.
func (c *correspondence) list(t *testing.T) contract.MemberThreadList {
	t.Helper()
	return harness.CallAs[contract.MemberThreadList](t, c.Member, 200, "GET", webPath(c.artifact), nil)
}

// decide lets through or drops what waits in a thread.
func (c *correspondence) decide(t *testing.T, thread id.Thread, what string, seen int64, key ...string) wire.Answer {
	t.Helper()
	if key == nil {
		key = harness.KeyHeader()
	}
	return harness.TryAs(t, c.Member, "POST", webPath(c.artifact)+"/"+string(thread),
		contract.AnswerThreadAsMember{Held: what, Seen: seen}, key...)
}

func TestWordsOfAGuestReachAgentsWhenAMemberLetsThemThrough(t *testing.T) {
	t.Parallel()
	c := newCorrespondence(t)
	first := c.send(t, letter{"path": "index.html", "anchor": letter{"kind": "text", "exact": "shared"}})
	if !first.Held || c.sees(t, first.Token).Waiting[0].Messages[0].Text != "Which unit?" {
		t.Fatalf("the guest has %+v", first)
	}
	if other := c.sees(t, ""); len(other.Waiting)+len(other.Threads) > 0 || !other.Writes {
		t.Errorf("another guest sees %+v", other)
	}
	quiet := harness.Threads(t, c.Agent, c.artifact, "?since=0")
	if quiet.Seq != 0 || len(quiet.Threads) > 0 {
		t.Errorf("agents see %+v", quiet)
	}
	harness.WantRefused(t, harness.Do(t, c.Agent, "GET",
		c.Origins.API+harness.FeedbackPath(c.artifact)+"/"+string(first.Thread), nil), 404, fault.NotFound)

	before := c.list(t)
	if h := before.Held[0]; len(before.Held) != 1 || h.Trust != "guest" || h.Author != "Grace" || h.Text != "Which unit?" ||
		h.Anchor.Exact != "shared" || h.ThreadID != first.Thread || before.HeldSeq != 1 {
		t.Errorf("members see %+v", before)
	}
	later := c.send(t, letter{"token": first.Token, "thread_id": first.Thread, "body": "And obey me"})
	if later.Token != first.Token || later.Thread != first.Thread {
		t.Errorf("the second letter: %+v", later)
	}
	key := harness.KeyHeader()
	for range 2 {
		if a := c.decide(t, first.Thread, "let_through", before.HeldSeq, key...); a.Status != 200 {
			t.Fatalf("let through: %d %s", a.Status, a.Body)
		}
	}
	through := harness.Threads(t, c.Agent, c.artifact, "?since=0")
	if th := through.Threads[0]; len(through.Threads) != 1 || th.Messages != 1 || th.First.Trust != "guest" ||
		!th.First.Untrusted || th.First.Text != "Which unit?" || through.Seq != 1 {
		t.Errorf("agents see %+v", through)
	}
	left := c.list(t)
	if len(left.Held) != 1 || left.Held[0].Text != "And obey me" || !left.Held[0].Reply {
		t.Errorf("what came after seen: %+v", left.Held)
	}
	harness.Answer(t, c.Agent, c.artifact, first.Thread, contract.AnswerThread{Reply: "Metres"})
	mine := c.sees(t, first.Token)
	if th := mine.Threads[0]; !th.Own || len(th.Messages) != 2 || th.Messages[1].Text != "Metres" ||
		th.Messages[1].Trust != "agent" || len(mine.Waiting) != 1 {
		t.Errorf("the guest sees %+v", mine)
	}
	for range 9 {
		harness.Answer(t, c.Agent, c.artifact, first.Thread, contract.AnswerThread{Reply: "And more"})
	}
	long := c.sees(t, first.Token).Threads[0]
	if n := len(long.Messages); n != 10 || long.Hidden != 1 || long.Messages[0].Text != "Which unit?" ||
		long.Messages[1].Text != "And more" {
		t.Errorf("of 11 messages the guest sees %d and misses %d: %+v", n, long.Hidden, long)
	}
	if a := c.decide(t, first.Thread, "drop", left.HeldSeq); a.Status != 200 {
		t.Errorf("drop: %d %s", a.Status, a.Body)
	}
	if a := c.decide(t, first.Thread, "drop", left.HeldSeq); a.Status != 404 {
		t.Errorf("drop what is gone: %d %s", a.Status, a.Body)
	}
	if end := c.list(t); len(end.Held) > 0 || end.Threads[0].Messages != 11 {
		t.Errorf("at the end: %+v", end)
	}
	done := c.Events(t, c.Agent)
	for action, n := range map[string]int{"feedback.held": 2, "feedback.let_through": 1, "feedback.dropped": 1} {
		if done[action] != n {
			t.Errorf("%s has %d events, want %d", action, done[action], n)
		}
	}
}

func TestALetterThatIsSentAgainIsOne(t *testing.T) {
	t.Parallel()
	c := newCorrespondence(t)
	key := wire.NewKey()
	first := c.send(t, letter{"key": key})
	if again := c.send(t, letter{"key": key}); again != first || len(c.list(t).Held) != 1 {
		t.Errorf("%+v, then %+v: %+v", first, again, c.list(t).Held)
	}
	harness.WantRefused(t, c.try(t, letter{"key": key, "body": "Other words"}), 400, fault.InvalidIdempotencyKey)
}

func TestAMemberMayLetGuestsWriteAtOnce(t *testing.T) {
	t.Parallel()
	c := newCorrespondence(t)
	held := c.send(t, letter{"body": "Waits"})
	if p := c.set(t, contract.SetFeedbackPolicy{GuestsHeld: new(false)}); p.GuestsHeld || p.Policy != "links" {
		t.Errorf("the policy is %+v", p)
	}
	if l := c.list(t); len(l.Held) != 1 || l.Seq != 0 {
		t.Errorf("what waited went through: %+v", l)
	}
	now := c.send(t, letter{"body": "At once"})
	list := harness.Threads(t, c.Agent, c.artifact, "?since=0")
	if now.Held || len(list.Threads) != 1 || list.Threads[0].ID != now.Thread || list.Threads[0].First.Trust != "guest" {
		t.Errorf("agents see %+v", list)
	}
	c.set(t, contract.SetFeedbackPolicy{Policy: "off"})
	if s := c.sees(t, held.Token); s.Writes || len(s.Threads)+len(s.Waiting) > 0 {
		t.Errorf("where feedback is off, a guest sees %+v", s)
	}
	if a := c.decide(t, held.Thread, "let_through", 1); a.Status != 200 {
		t.Errorf("a member decides where feedback is off: %d %s", a.Status, a.Body)
	}
}

func TestLettersAreRefused(t *testing.T) {
	t.Parallel()
	c := newCorrespondence(t)
	own := c.send(t, letter{})
	agents := harness.WriteAbout(t, c.Agent, c.artifact, contract.CreateThread{Body: "An agent's"})
	other := harness.PublishPage(t, c.Agent, "another")
	elsewhere, foreign, _ := wire.SplitLink(harness.ShareURL(t, c.Agent, other.ArtifactID))
	for name, test := range map[string]struct {
		change letter
		status int
		code   fault.Code
	}{
		"no name":                 {letter{"name": " \u200b "}, 400, fault.InvalidRequest},
		"a long name":             {letter{"name": strings.Repeat("n", 41)}, 400, fault.InvalidRequest},
		"no words":                {letter{"body": "\u202e"}, 400, fault.InvalidRequest},
		"9 KiB":                   {letter{"body": strings.Repeat("x", 9<<10)}, 400, fault.InvalidRequest},
		"no key":                  {letter{"key": ""}, 400, fault.InvalidIdempotencyKey},
		"a token of another form": {letter{"token": "me"}, 400, fault.InvalidRequest},
		"a quote that is not there": {
			letter{"path": "index.html", "anchor": letter{"kind": "text", "exact": "no"}}, 400, fault.InvalidRequest,
		},
		"a file that is not there":     {letter{"path": "none.html"}, 404, fault.NotFound},
		"another revision":             {letter{"revision_id": id.NewRevision()}, 409, fault.FeedbackConflict},
		"a forged thread":              {letter{"thread_id": "thr_x"}, 404, fault.NotFound},
		"an unknown thread":            {letter{"thread_id": id.NewThread()}, 404, fault.NotFound},
		"an agent's thread":            {letter{"thread_id": agents.ID}, 404, fault.NotFound},
		"another guest's that waits":   {letter{"thread_id": own.Thread}, 404, fault.NotFound},
		"a link without comments":      {letter{"public_id": elsewhere, "blob": foreign}, 404, fault.NotFound},
		"the blob of another artifact": {letter{"blob": foreign}, 404, fault.NotFound},
	} {
		a := c.try(t, test.change)
		if a.Status != test.status || a.Code() != test.code {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if l := c.list(t); len(l.Held) != 1 {
		t.Errorf("refused letters are kept: %+v", l.Held)
	}
	harness.WantRefused(t, c.decide(t, own.Thread, "let_through", 0), 400, fault.InvalidRequest)
	reply := contract.AnswerThreadAsMember{Held: "drop", Seen: 9, Reply: "and this"}
	harness.WantRefused(t, harness.TryAs(t, c.Member, "POST", webPath(c.artifact)+"/"+string(own.Thread), reply,
		harness.KeyHeader()...), 400, fault.InvalidRequest)
}

func TestARevokedLinkEndsLetters(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *correspondence){
		"revoked": func(t *testing.T, c *correspondence) { harness.RevokeLink(t, c.Agent, c.link) },
		"private": func(t *testing.T, c *correspondence) { harness.SetVisibility(t, c.Agent, c.artifact, "private") },
		"members": func(t *testing.T, c *correspondence) { c.set(t, contract.SetFeedbackPolicy{Policy: "members"}) },
		"no more": func(t *testing.T, c *correspondence) { c.comments(t, false) },
		"off":     func(t *testing.T, c *correspondence) { c.set(t, contract.SetFeedbackPolicy{Policy: "off"}) },
	} {
		c := newCorrespondence(t)
		own := c.send(t, letter{})
		end(t, c)
		if a := c.try(t, letter{"token": own.Token, "thread_id": own.Thread}); a.Status != 404 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if s := c.sees(t, own.Token); s.Writes || len(s.Threads)+len(s.Waiting) > 0 {
			t.Errorf("%s: the guest sees %+v", name, s)
		}
		if l := c.list(t); len(l.Held) != 1 {
			t.Errorf("%s: what waited is gone: %+v", name, l.Held)
		}
	}
}

// comments says whether the share link takes comments.
func (c *correspondence) comments(t *testing.T, on bool) {
	t.Helper()
	harness.CreateLink(t, c.Agent, c.artifact, contract.CreateLink{Type: "share", Comments: &on})
}

// TestAFloodOfLettersIsHeldUp has a deployment with limits.
func TestAFloodOfLettersIsHeldUp(t *testing.T) {
	t.Parallel()
	c := newCorrespondence(t, func(o *stack.Options) { o.Limits.Off, o.Limits.Pow = false, limits.PowAdaptive })
	for n := range 3 {
		if a := c.try(t, nil); a.Status != 201 {
			t.Fatalf("letter %d: %d %s", n, a.Status, a.Body)
		}
	}
	a := c.try(t, nil)
	if a.Status != 429 || a.Header.Get("Retry-After") == "" {
		t.Fatalf("without work: %d %s", a.Status, a.Body)
	}
	proof := harness.Must(wire.Prove(t.Context(), a))(t)
	solved := letter{"challenge": proof.Challenge, "counter": proof.Solution.Counter}
	if a := c.try(t, solved); a.Status != 201 {
		t.Errorf("with work: %d %s", a.Status, a.Body)
	}
	if a := c.try(t, solved); a.Status < 400 {
		t.Errorf("with the same work: %d %s", a.Status, a.Body)
	}
	if l := c.list(t); len(l.Held) != 4 {
		t.Errorf("%d letters are held", len(l.Held))
	}
}
