package sharing

import (
	"encoding/json"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

func commented(on bool) Request { return Request{Kind: link.Share, Comments: &on} }

func TestShareLinksOfClaimedWorkspacesTakeComments(t *testing.T) {
	of := id.NewRevision()
	pinned := func(comments *bool) Request { return Request{Kind: link.Revision, Revision: of, Comments: comments} }
	for name, c := range map[string]struct {
		request   Request
		unclaimed bool
		takes     bool
		want      fault.Code
	}{
		"a new one that asks does":            {commented(true), false, true, ""},
		"a new one that asks for none":        {commented(false), false, false, ""},
		"a new one that does not say":         {share, false, false, ""},
		"one of an unclaimed workspace":       {commented(true), true, false, fault.Forbidden},
		"one of it that asks for none":        {commented(false), true, false, ""},
		"a revision link is refused":          {pinned(new(true)), false, false, fault.InvalidRequest},
		"a revision link without is, too":     {pinned(new(false)), false, false, fault.InvalidRequest},
		"a revision link that does not say":   {pinned(nil), false, false, ""},
		"an unclaimed revision link, as such": {pinned(new(true)), true, false, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			if c.unclaimed {
				e.by.Workspace = workspace.Workspace{ID: e.by.Workspace.ID}
			}
			made, err := e.Create(t.Context(), e.by, e.target(), c.request)
			expect.Code(t, err, c.want)
			if c.want != "" {
				if e.store.writes() != 0 {
					t.Errorf("%d writes", e.store.writes())
				}
				return
			}
			if got := e.store.created[0].Link.Comments; got != c.takes {
				t.Errorf("the link takes comments: %t", got)
			}
			wantSaid(t, made, c.request)
		})
	}
}

// wantSaid checks that an answer says of comments what the request said, and is silent where it was.
func wantSaid(t *testing.T, made link.Record, r Request) {
	t.Helper()
	switch {
	case (made.Comments == nil) != (r.Comments == nil):
		t.Errorf("the answer says %v of comments, the request %v", made.Comments, r.Comments)
	case r.Comments != nil && *made.Comments != *r.Comments:
		t.Errorf("the answer says %t", *made.Comments)
	}
}

func TestTheShareLinkTakesCommentsAsAskedLast(t *testing.T) {
	for name, c := range map[string]struct {
		had     bool
		request Request
		changes bool
		detail  string
	}{
		"on":             {false, commented(true), true, "to take comments on "},
		"off":            {true, commented(false), true, "to take no comments on "},
		"on as it was":   {true, commented(true), false, ""},
		"off as it was":  {false, commented(false), false, ""},
		"without a word": {true, share, false, ""},
		"with an old end": {
			false,
			Request{Kind: link.Share, Comments: new(true), ExpiresAt: new(now.Add(48 * time.Hour))},
			true,
			"to take comments on ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			old := e.addShareLink(func(l *link.Link) { l.Comments, l.ExpiresAt = c.had, now.Add(time.Hour) })
			made, err := e.Create(t.Context(), e.by, e.target(), c.request)
			expect.Code(t, err, "")
			if made.ID != old.ID || len(e.store.created) != 0 {
				t.Fatalf("%+v, want the link of before", made)
			}
			wantSaid(t, made, c.request)
			if !c.changes {
				if len(e.store.noops) != 1 || len(e.store.comments) != 0 {
					t.Errorf("%d changes, %d without effect", len(e.store.comments), len(e.store.noops))
				}
				return
			}
			if len(e.store.comments) != 1 {
				t.Fatalf("%d changes", len(e.store.comments))
			}
			did := e.store.comments[0]
			var again link.Record
			if err := json.Unmarshal(did.Result, &again); err != nil || again.ID != old.ID {
				t.Errorf("a repetition has %s, %v", did.Result, err)
			}
			wantSaid(t, again, c.request)
			if did.Link.Comments != *c.request.Comments || did.Event.Action != event.LinkUpdated ||
				did.Event.Target.ID != string(old.ID) || did.Event.Detail != c.detail+string(old.Artifact) {
				t.Errorf("%+v", did)
			}
		})
	}
}

func TestCommentsOfALinkThatWasRevokedMeanwhileAreThoseOfANewOne(t *testing.T) {
	e := newEnv(t)
	old := e.addShareLink(asStored)
	e.store.Fails = []error{artifact.ErrMoved}
	e.store.OnCall = func() {
		if len(e.store.comments) == 1 { // the first attempt
			e.artifact.ShareLink = ""
			e.target()
		}
	}
	made, err := e.Create(t.Context(), e.by, e.target(), commented(true))
	expect.Code(t, err, "")
	if made.ID == old.ID || len(e.store.created) != 1 || !e.store.created[0].Link.Comments {
		t.Errorf("%+v, want a new link with comments", e.store.created)
	}
}

func TestAnExistingLinkIsNotReplaced(t *testing.T) {
	asked := func(l id.Link) Request {
		r := commented(true)
		r.Existing = l
		return r
	}
	for name, c := range map[string]struct {
		set    func(*env) id.Link
		writes int
		want   fault.Code
	}{
		"the share link is changed": {func(e *env) id.Link { return e.addShareLink(asStored).ID }, 1, ""},
		"one that was revoked is not found": {func(e *env) id.Link {
			return e.addShareLink(func(l *link.Link) { l.RevokedAt = now }).ID
		}, 0, fault.NotFound},
		"one that another replaced is not found": {func(e *env) id.Link {
			e.addShareLink(asStored)
			return id.NewLink()
		}, 0, fault.NotFound},
		"one of an artifact without is not found": {func(*env) id.Link { return id.NewLink() }, 0, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			l := c.set(e)
			_, err := e.Create(t.Context(), e.by, e.target(), asked(l))
			expect.Code(t, err, c.want)
			if e.store.writes() != c.writes || len(e.store.created) != 0 {
				t.Errorf("%d writes, %d links were made", e.store.writes(), len(e.store.created))
			}
		})
	}
}
