package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

const deleteOne = threadsPage + "/" + openThread + "/messages/" + openMessage + "/delete"

func TestWhatGuestsWroteWaitsOnThePagesOfThreads(t *testing.T) {
	for _, path := range []string{threadsPage, "/v/" + artifactID} {
		body := page(t, path)
		expect.Has(t, path, body, "Waiting for you", `id="held-`+heldThread, `name="seen" value="2"`, "A quote of",
			"harbour seals", "&lt;b&gt;hook&lt;/b&gt;", "And two pups.", `<span class="badge">Guest</span>`,
			`id="held-`+quoteThread, `name="seen" value="3"`, "A reply about: A quote of", "2 open, 3 waiting", `data-seq="9.3"`)
		expect.Lacks(t, path, body, "<b>hook", "\u202e")
		expect.Lacks(t, path+" without any", page(t, path, nobodyWaits), "Waiting for you", "waiting")
	}
	for _, path := range []string{threadsPage + "?state=addressed", threadsPage + "?after=here"} {
		expect.Lacks(t, path, page(t, path), "Waiting for you")
	}
	expect.Has(t, "the artifact", page(t, artifactPage), "3 waiting", "waits until a member lets it through")
	expect.Has(t, "the inbox", page(t, inboxPath), "2 open, 3 waiting")
	expect.Has(t, "the inbox of what waits alone", page(t, inboxPath, func(s *fakeServices) { s.feedback.counts.Open = 0 }),
		`<span class="count">3 waiting</span>`)
}

func nobodyWaits(s *fakeServices) { s.feedback.counts.Held = 0 }

func TestAMemberEndsTheWaitOfWhatThePageShowed(t *testing.T) {
	for name, c := range map[string]struct {
		thread, seen, do string
		change           string
		left             int
		newest           string // of the thread, empty: there is none
	}{
		"let through":    {heldThread, "2", letThrough, "LetThrough " + heldThread + " 2", 1, "And two pups."},
		"a part":         {heldThread, "1", letThrough, "LetThrough " + heldThread + " 1", 2, ""},
		"a reply":        {quoteThread, "3", letThrough, "LetThrough " + quoteThread + " 3", 2, "I was there, on Sunday."},
		"dropped":        {heldThread, "2", drop, "Drop " + heldThread + " 2", 1, ""},
		"a part dropped": {heldThread, "1", drop, "Drop " + heldThread + " 1", 2, ""},
	} {
		s := newServices()
		r := signedIn(s.handler(), "POST", threadsPage+"/"+c.thread, url.Values{
			"once": {formName}, "do": {c.do}, "seen": {c.seen}, "back": {"viewer"}, "shown": {newestID},
		})
		wantRedirect(t, name, r, "/v/"+artifactID+"?feedback=open#"+c.thread)
		if len(s.changes) != 1 || s.changes[0] != c.change || len(s.feedback.held) != c.left {
			t.Errorf("%s: %v, %d wait", name, s.changes, len(s.feedback.held))
		}
		thread := s.feedback.find(id.Thread(c.thread))
		if (thread == nil) != (c.do == drop) || thread != nil && thread.Newest.Text != c.newest {
			t.Errorf("%s: %+v", name, thread)
		}
	}
}

func TestARefusalToLetSomethingThroughIsExplained(t *testing.T) {
	full := fault.New(fault.FeedbackConflict, "the artifact has 200 open threads; resolve or address some first")
	for name, c := range map[string]struct {
		refuse       error
		thread, seen string
		status       int
		says         []string
	}{
		"the caps": {full, heldThread, "2", 409, []string{
			`Not done for <a href="#held-` + heldThread, "The artifact has 200 open threads; resolve or address some first.",
		}},
		"gone already": {nil, openThread, "2", 404, []string{`<a href="#` + openThread, "another member may have dealt with it"}},
		"no such one":  {nil, addressedThread, "2", 404, []string{"Not done. It is not there any more"}},
		"no number":    {nil, heldThread, "x", 400, []string{"Not done for", "reload the page and try again"}},
	} {
		s := newServices()
		s.feedback.refuse = c.refuse
		r := signedIn(s.handler(), "POST", threadsPage+"/"+c.thread, url.Values{
			"once": {formName}, "do": {letThrough}, "seen": {c.seen},
		})
		body := wantAnswer(t, name, r, c.status, append(c.says, `role="alert" id="problem"`, "And two pups.")...)
		if strings.Count(body, `id="problem"`) != 1 || len(s.feedback.held) != 3 {
			t.Errorf("%s: %d wait", name, len(s.feedback.held))
		}
	}
}

func TestAMemberActsOnSeveralThreadsAtOnce(t *testing.T) {
	chosen := func(do string, of ...string) url.Values {
		form := url.Values{"do": {do}, "once": {formName}}
		for i := 0; i < len(of); i += 2 {
			form.Set(chosenThread+of[i], of[i+1])
		}
		return form
	}
	for name, c := range map[string]struct {
		form url.Values
		says []string
		left int // things that wait
	}{
		"resolve":       {chosen("resolve", openThread, "on", quoteThread, "on"), []string{"2 threads resolved."}, 3},
		"let through":   {chosen(letThrough, heldThread, "2", quoteThread, "3"), []string{"2 threads let through."}, 0},
		"drop":          {chosen(drop, heldThread, "1"), []string{"1 thread dropped.", "And two pups."}, 2},
		"some are gone": {chosen(drop, heldThread, "2", openThread, "9"), []string{"1 thread dropped.", "Not done for", "dealt with it"}, 1},
		"one is no number": {
			chosen(drop, heldThread, "", quoteThread, "3"), []string{"1 thread dropped.", "reload the page"}, 2,
		},
	} {
		s := newServices()
		body := wantAnswer(t, name, signedIn(s.handler(), "POST", artifactPage+"/feedback-selected", c.form), 200, c.says...)
		expect.Has(t, name, body, "<h1>Feedback</h1>")
		if len(s.feedback.held) != c.left {
			t.Errorf("%s: %d wait", name, len(s.feedback.held))
		}
	}
	many := chosen("resolve")
	for n := range maxChosen + 1 {
		many.Set(chosenThread+strings.Repeat("x", n), "on")
	}
	for name, form := range map[string]url.Values{
		"none":         chosen("resolve"),
		"another act":  chosen("delete", openThread, "on"),
		"no key":       {"do": {"resolve"}, chosenThread + openThread: {"on"}},
		"far too many": many,
	} {
		s := newServices()
		r := signedIn(s.handler(), "POST", artifactPage+"/feedback-selected", form)
		if r.StatusCode != http.StatusBadRequest || len(s.changes) > 0 {
			t.Errorf("%s: %d, %v", name, r.StatusCode, s.changes)
		}
	}
}

func TestAFailureAmongSeveralThreadsIsToldOfEach(t *testing.T) {
	s := newServices()
	s.feedback.refuse = fault.NewCode(fault.DatabaseUnavailable)
	form := url.Values{
		"do": {"resolve"}, "once": {formName}, chosenThread + openThread: {"on"}, chosenThread + quoteThread: {"on"},
	}
	body := wantAnswer(t, "the page", signedIn(s.handler(), "POST", artifactPage+"/feedback-selected", form), 200,
		"Not done for", "A part of this service does not answer.")
	if n := strings.Count(body, `class="problem"`); n != 2 || strings.Contains(body, "resolved.") {
		t.Errorf("it tells of %d", n)
	}
}

func TestAMemberDeletesAMessageOfTheirOwn(t *testing.T) {
	s := newServices()
	expect.Has(t, "the thread", page(t, threadsPage+"/"+openThread), `href="`+deleteOne+`"`)
	expect.Has(t, "the question", text(t, signedIn(s.handler(), "GET", deleteOne, nil)),
		"Delete this message?", "The axis has no unit.", "has no other message")
	if len(s.changes) > 0 {
		t.Errorf("a question changed %v", s.changes)
	}
	wantRedirect(t, "the only one", signedIn(s.handler(), "POST", deleteOne, onlyNamed), threadsPage)

	s = newServices()
	first := s.feedback.said[1]
	path := messagePath(artifactID, quoteThread, first.ID) + "/delete"
	expect.Has(t, "the question", text(t, signedIn(s.handler(), "GET", path, nil)), "Its place in the thread stays.")
	wantRedirect(t, "one of four", signedIn(s.handler(), "POST", path, onlyNamed), threadsPage+"/"+quoteThread)
	body := text(t, signedIn(s.handler(), "GET", threadsPage+"/"+quoteThread, nil))
	expect.Has(t, "the thread", body, "Its author deleted this message.")
	expect.Lacks(t, "the thread", body, "By whom, and on which day?", "Delete this message")

	agents := s.feedback.said[len(s.feedback.said)-1]
	for name, path := range map[string]string{
		"an agent's":       messagePath(artifactID, agents.Thread, agents.ID) + "/delete",
		"of another":       messagePath(artifactID, resolvedThread, first.ID) + "/delete",
		"that is deleted":  path,
		"of no such thing": messagePath(artifactID, heldThread, first.ID) + "/delete",
	} {
		if r := signedIn(s.handler(), "GET", path, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("the question about one %s: %d", name, r.StatusCode)
		}
	}
}

func TestAMemberSaysWhoMayWrite(t *testing.T) {
	const to = artifactPage + "/feedback-policy"
	body := page(t, artifactPage, func(s *fakeServices) {
		s.feedback.counts.Settings = feedback.Settings{Links: true, AtOnce: true, AgentsResolve: true}
	})
	expect.Has(t, "the form", body, `action="`+to+`"`, `value="links" checked`, `value="at_once" checked`,
		`value="yes" checked`, "writes to your agents")
	expect.Has(t, "of a new artifact", page(t, artifactPage), `value="members" checked`, `value="held" checked`)
	expect.Has(t, "where it is off", page(t, artifactPage, func(s *fakeServices) { s.feedback.counts.Off = true }),
		`value="off" checked`)
	expect.Lacks(t, "of a member without the right", page(t, artifactPage, func(s *fakeServices) {
		s.actor.Scopes = s.actor.Scopes[:2]
	}), to)

	s := newServices()
	s.feedback.refuse = fault.New(fault.Forbidden, "claim the workspace first: guests write in claimed ones alone")
	form := url.Values{"who": {"links"}, "guests": {"at_once"}, "once": {formName}}
	wantAnswer(t, "a refusal", signedIn(s.handler(), "POST", to, form), 403,
		"Claim the workspace first: guests write in claimed ones alone.", `value="links" checked`, `value="at_once" checked`,
		`<details class="fold" open>`)
	form.Set("who", "everybody")
	wantAnswer(t, "a choice that is none", signedIn(s.handler(), "POST", to, form), 400)
	s.actor.Scopes = s.actor.Scopes[:2]
	wantAnswer(t, "without the right", signedIn(s.handler(), "POST", to, form), 403)
	if len(s.changes) != 1 {
		t.Errorf("changed %v", s.changes)
	}
}
