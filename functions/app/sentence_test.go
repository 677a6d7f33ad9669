package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"vitrine/shared/platform/event"
)

func TestEveryActionHasASentence(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../shared/platform/event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Action" {
			found++
			word, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if sentences[event.Action(word)] == "" {
				t.Errorf("%s has no sentence", word)
			}
		}
		return false
	})
	if found < 25 {
		t.Errorf("only %d actions were found", found)
	}
}

func TestEveryBlankOfASentenceIsFilled(t *testing.T) {
	for action, form := range sentences {
		for _, blank := range strings.Split(form, "{")[1:] {
			if name, _, closed := strings.Cut(blank, "}"); !closed || fillings[name] == nil {
				t.Errorf("%s has a blank %q", action, blank)
			}
		}
	}
}

// said is an event as a sentence, with the addresses of its links.
func said(s story, e event.Event) string {
	out := ""
	for _, p := range s.sentence(e) {
		out += p.Text
		if p.Path != "" {
			out += "<" + p.Path + ">"
		}
	}
	return out
}

func TestEventsReadAsSentences(t *testing.T) {
	s := story{self: memberID}
	on := func(a event.Action, kind, target, detail string) event.Event {
		return event.Event{
			Action: a,
			Actor:  event.ByMember(memberID),
			Target: event.Target{Type: kind, ID: target},
			Detail: detail,
		}
	}
	published := on(event.ArtifactPublished, event.OnRevision, oldID, "Seals")
	old := published
	published.Artifact, published.Number = artifactID, 3
	thread := on(event.FeedbackCreated, event.OnThread, "thr_1", "")
	thread.Artifact = artifactID
	letter := thread
	letter.Actor = event.ByGuest()
	const link = artifactID + "</artifacts/" + artifactID + ">"
	for want, e := range map[string]event.Event{
		"You wrote about " + link:                                        thread,
		"A guest wrote about " + link:                                    letter,
		"You set feedback about " + link + ": off":                       on(event.FeedbackPolicy, event.OnArtifact, artifactID, "off"),
		"You published Seals</artifacts/" + artifactID + ">, revision 3": published,
		"You published Seals":                                            old,
		"An agent from claude.example got access":                        on(event.DelegationCreated, event.OnDelegation, "d", "claude.example"),
		"The app Vitrine command line was disconnected":                  on(event.GrantRevoked, event.OnClient, "cli", ""),
		"You made the API key Build":                                     on(event.KeyCreated, event.OnKey, keyID, "Build"),
		"You did: artifact.framed":                                       on("artifact.framed", event.OnArtifact, artifactID, ""),
		"You deleted Seals</artifacts/" + artifactID + ">":               on(event.ArtifactDeleted, event.OnArtifact, artifactID, "Seals"),
		"You set an access link to take comments on " + link:             on(event.LinkUpdated, event.OnLink, shareID, "to take comments on "+artifactID),
		"You revoked an access link of " + link:                          on(event.LinkRevoked, event.OnLink, shareID, "of "+artifactID),
	} {
		if got := said(s, e); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
