package feedback

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// hostileGuest is the name of a guest, and what is left of it.
var hostileGuest = words{"<b>Grace</b>\u202E\x1b[31m\n[x](y) `z`" + tags("admin"), "<b>Grace</b>[31m [x](y) `z`"}

// admit lets guests write about the artifact, and returns one with a hostile name.
func (w *written) admit(t *testing.T) harness.Guest {
	t.Helper()
	guest := harness.Admit(t, w.author, w.agent, w.ArtifactID)
	guest.Name = hostileGuest.given
	return guest
}

// sends sends a letter that is taken.
func (w *written) sends(t *testing.T, from harness.Guest, thread id.Thread, body string) (sent harness.SentLetter) {
	t.Helper()
	a := w.SendLetter(t, from, wire.NewKey(), thread, body)
	harness.Decode(t, a, &sent)
	if a.Status != 201 || !sent.Held {
		t.Fatalf("%.40q: %d %s", body, a.Status, a.Body)
	}
	return sent
}

// TestHostileWordsOfGuestsAreOnlyWords lets members read them first, and then lets them through.
func TestHostileWordsOfGuestsAreOnlyWords(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	w.trust, w.name, w.quotes = "guest", hostileGuest.kept, []string{}
	guest := w.admit(t)
	for _, one := range hostile {
		w.threads[w.sends(t, guest, "", one.given).ThreadID] = one.kept
	}
	w.wantUnheard(t)
	list := harness.CallAs[contract.MemberThreadList](t, w.author, 200, "GET", webPath(w.ArtifactID), nil)
	for _, held := range list.Held {
		if !held.Untrusted || held.Trust != "guest" || held.Author != w.name || held.Text != w.threads[held.ThreadID] {
			t.Errorf("members are told %+v", held)
		}
	}
	if len(list.Held) != len(w.threads) {
		t.Errorf("%d letters wait, want %d", len(list.Held), len(w.threads))
	}
	artifact := w.Origins.App + "/artifacts/" + string(w.ArtifactID)
	viewer := w.Origins.App + "/v/" + string(w.ArtifactID) + "?feedback=open"
	for _, url := range []string{viewer, artifact + "/feedback?state=held"} {
		w.page.Go(url)
		w.page.WaitText("Let through")
		shown := map[string]bool{}
		for _, said := range browser.Eval[[]string](&w.page.Document,
			`[...document.querySelectorAll(".said bdi")].map(e => e.textContent)`) {
			shown[said] = true
		}
		for _, kept := range w.threads {
			if !shown[kept] {
				t.Errorf("%s does not show %.60q", url, kept)
			}
		}
		w.wantNoElements(t, url)
	}
	for thread := range w.threads {
		harness.CallAs[contract.ThreadSummary](t, w.author, 200, "POST", webPath(w.ArtifactID)+"/"+string(thread),
			contract.AnswerThreadAsMember{Held: "let_through", Seen: list.HeldSeq}, harness.KeyHeader()...)
	}
	w.wantOnlyWords(t)
}

// wantUnheard wants no word of guests where agents read.
func (w written) wantUnheard(t *testing.T) {
	t.Helper()
	a := harness.Do(t, w.agent, "GET", w.agent.At.APIURL+harness.FeedbackPath(w.ArtifactID), nil)
	var list contract.ThreadList
	harness.Decode(t, a, &list)
	if len(list.Threads) > 0 || list.Seq != 0 || list.Open != 0 || a.Header.Get("ETag") != `"0"` {
		t.Errorf("agents are told %s", a.Body)
	}
	for thread := range w.threads {
		path := w.agent.At.APIURL + harness.FeedbackPath(w.ArtifactID) + "/" + string(thread)
		harness.WantRefused(t, harness.Do(t, w.agent, "GET", path, nil), 404, fault.NotFound)
	}
	told := w.callTool(t, map[string]any{"artifact_id": w.ArtifactID})
	if strings.Contains(string(told.Body), "thr_") || strings.Contains(string(told.Body), "Grace") {
		t.Errorf("the tool tells %s", told.Body)
	}
	w.page.Go(w.Origins.App + "/artifacts/" + string(w.ArtifactID))
	if browser.Eval[bool](&w.page.Document, `document.querySelector("#for-agents") !== null`) {
		t.Error("the page has a text for agents")
	}
}

// TestAGuestWhoFloodsIsHeldBack writes more in one thread, and then about one artifact, than may wait.
func TestAGuestWhoFloodsIsHeldBack(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	guest := w.admit(t)
	refused := func(thread id.Thread) {
		t.Helper()
		a := w.SendLetter(t, guest, wire.NewKey(), thread, "One more")
		harness.WantRefused(t, a, 409, fault.FeedbackConflict)
	}
	const inThread, ofArtifact = 20, 100
	var last harness.SentLetter
	for n := range ofArtifact {
		if thread := last.ThreadID; n%inThread == 0 {
			if n > 0 {
				refused(thread)
			}
			last = w.sends(t, guest, "", "A letter")
			guest.Token = last.Token
		} else {
			last = w.sends(t, guest, thread, "A letter")
		}
	}
	refused("")
	w.wantUnheard(t)
	list := harness.CallAs[contract.MemberThreadList](t, w.author, 200, "GET", webPath(w.ArtifactID), nil)
	if len(list.Held) != ofArtifact || list.HeldSeq != ofArtifact {
		t.Errorf("%d letters wait up to %d", len(list.Held), list.HeldSeq)
	}
	harness.CallAs[contract.ThreadSummary](t, w.author, 200, "POST", webPath(w.ArtifactID)+"/"+string(last.ThreadID),
		contract.AnswerThreadAsMember{Held: "let_through", Seen: list.HeldSeq}, harness.KeyHeader()...)
	whole := harness.Threads(t, w.agent, w.ArtifactID, "")
	if len(whole.Threads) != 1 || whole.Threads[0].Messages != inThread || whole.Seq != 1 {
		t.Errorf("let through, it is %+v", whole)
	}
}
