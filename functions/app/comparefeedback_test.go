package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
)

const dealtHeading = "Threads that this dealt with"

func TestAComparisonTellsWhichThreadsItDealtWith(t *testing.T) {
	s := newServices()
	body := compares(t, s, "?from="+oldID+"&to="+newestID)
	expect.Has(t, "the page", body, dealtHeading, threadsPage+"/"+addressedThread, "The title is missing.",
		`>Revision 3: <bdi>It has one now</bdi>`, ">Addressed</span>")
	expect.Lacks(t, "the page", body, openThread, resolvedThread, "among the newest changes") // no revision dealt with these
	for name, query := range map[string]string{
		"a revision with itself": "?from=" + newestID + "&to=" + newestID,
		"the other way round":    "?from=" + newestID + "&to=" + oldID,
	} {
		expect.Lacks(t, name, compares(t, newServices(), query), dealtHeading)
	}
	for n, shown := range map[int]bool{2: false, 3: true, 4: false} { // after From, up to To
		s := newServices()
		s.feedback.find(addressedThread).Addressed.Number = n
		if body := compares(t, s, "?from="+oldID+"&to="+newestID); strings.Contains(body, dealtHeading) != shown {
			t.Errorf("what revision %d dealt with is shown: %t", n, !shown)
		}
	}
}

func TestAComparisonShowsNoMoreOfThreadsThanItHasRoomFor(t *testing.T) {
	s := newServices()
	dealt := s.feedback.find(addressedThread)
	dealt.State = feedback.Resolved
	dealt.First.Text = hostileWords + strings.Repeat("x", 400)
	s.feedback.more = true
	body := compares(t, s, "")
	expect.Has(t, "the page", body, ">Resolved</span>", "x</bdi>…</p>", "among the newest changes", threadsPage+"?state=addressed")
	expect.Lacks(t, "the page", body, "<script>alert", "\u202e", strings.Repeat("x", 161))
	read := 0
	for _, call := range s.calls {
		if strings.HasPrefix(call, "Threads") {
			read++
		}
	}
	if read != 2 {
		t.Errorf("%d lists were read", read)
	}
}

// unreadThreads are threads whose list fails.
type unreadThreads struct {
	*fakeFeedback
	failure error
}

func (f unreadThreads) List(
	context.Context, credential.Actor, *artifact.Artifact, feedback.Selection,
) (feedback.Listing, string, error) {
	return feedback.Listing{}, "", f.failure
}

func TestAComparisonIsShownWithoutThreadsThatCannotBeRead(t *testing.T) {
	for name, failure := range map[string]error{
		"the table": fault.NewCode(fault.DatabaseUnavailable), "a bug": errors.New("broken"),
	} {
		s := newServices()
		host, _ := s.host()
		host.Feedback = unreadThreads{s.feedback, failure}
		body := wantAnswer(t, name, signedIn(host.Handler(), "GET", comparisonPage, nil), 200)
		expect.Has(t, name, body, "From revision 2", "7 changed")
		expect.Lacks(t, name, body, dealtHeading)
	}
}
