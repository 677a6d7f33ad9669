package sharing

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// commenting asks for the share link with comments, or without.
func commenting(on bool) contract.CreateLink {
	return contract.CreateLink{Type: "share", Comments: &on}
}

// wantComments checks what is stored of a link.
func wantComments(t testing.TB, s *harness.LinkEnv, l id.Link, want bool) {
	t.Helper()
	public, err := l.Public()
	harness.NoError(t, err)
	stored, _ := s.GetItem(t, "AL#"+string(public), "L")["comments"].(*types.AttributeValueMemberBOOL)
	if got := stored != nil && stored.Value; got != want {
		t.Errorf("the link takes comments: %t", got)
	}
}

func TestTheShareLinkTakesComments(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	ofMembers := "/v1/web" + strings.TrimPrefix(harness.LinksPath(a), "/v1")
	made := harness.CreateLink(t, s.Agent, a, commenting(true))
	if made.Comments == nil || !*made.Comments {
		t.Errorf("%+v", made)
	}
	had := s.OpenLink(t, harness.MintLink(t, s.Agent, made.ID), "shared")
	wantComments(t, s, made.ID, true)
	for _, on := range []bool{true, false, true, true, false} {
		key := harness.KeyHeader()
		for range 2 { // a repetition has the same answer
			got := harness.CallAs[contract.CreatedLink](t, s.Member, 201, "POST", ofMembers, commenting(on), key...)
			if got.ID != made.ID || got.Comments == nil || *got.Comments != on {
				t.Errorf("%+v, want the link that there is, with comments %t", got, on)
			}
		}
		wantComments(t, s, made.ID, on)
	}
	if done := s.Events(t, s.Agent); done["access_link.created"] != 1 || done["access_link.updated"] != 3 {
		t.Errorf("%v", done)
	}
	harness.CreateLink(t, s.Agent, a, commenting(true))
	silent := harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinksPath(a), harness.ShareLink, harness.KeyHeader()...)
	if silent.Status != 201 || bytes.Contains(silent.Body, []byte("comments")) {
		t.Errorf("an answer to who did not ask: %d %s", silent.Status, silent.Body)
	}
	wantComments(t, s, made.ID, true)
	s.OpenLink(t, had.URL, "shared")
	s.CheckInvariants(t)
}

func TestCommentsAreForShareLinksOfClaimedWorkspaces(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for _, on := range []bool{true, false} {
		r := harness.RevisionLink(s.Published.RevisionID)
		r.Comments = &on
		answer := harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinksPath(s.Published.ArtifactID), r, harness.KeyHeader()...)
		harness.WantRefused(t, answer, 400, fault.InvalidRequest)
	}
	stranger := s.NewAgent(t)
	theirs := harness.PublishPage(t, stranger, "unclaimed").ArtifactID
	ask := func(on bool) wire.Answer {
		return harness.Do(t, stranger, "POST", s.Origins.API+harness.LinksPath(theirs), commenting(on), harness.KeyHeader()...)
	}
	harness.WantRefused(t, ask(true), 403, fault.Forbidden)
	if none := ask(false); none.Status != 201 {
		t.Errorf("to ask for none: %d %s", none.Status, none.Body)
	}
	s.Update(t, "W#"+string(harness.TokenOf(t, stranger).Workspace), "META", map[string]any{"claimed_at": s.Options.Now()})
	if claimed := ask(true); claimed.Status != 201 {
		t.Errorf("once it is claimed: %d %s", claimed.Status, claimed.Body)
	}
}

// TestCommentsThatARevocationOvertakesAreOfANewLink holds the change while the link ends.
func TestCommentsThatARevocationOvertakesAreOfANewLink(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	old := harness.CreateLink(t, s.Agent, a, harness.ShareLink)
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return createAsync(s.Agent, a, commenting(true))
	}, func() { harness.RevokeLink(t, s.Agent, old.ID) })
	var made contract.CreatedLink
	harness.Decode(t, late, &made)
	if late.Status != 201 || made.ID == old.ID {
		t.Errorf("%d %s", late.Status, late.Body)
	}
	wantComments(t, s, old.ID, false)
	wantComments(t, s, made.ID, true)
	s.CheckInvariants(t)
}
