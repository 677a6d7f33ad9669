package claim

import (
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestT27OldCredentialsEndWithTheCommitOfAClaimAndLinksStay(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Plenty)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "claimed")
	link := harness.Must(s.Anyone.Resolve(ctx, p.UnlistedURL))(t)
	get := func(g *wire.Agent, url string) func() (wire.Answer, error) {
		return func() (wire.Answer, error) { return g.Do(ctx, "GET", url, nil) }
	}
	harness.RaceEnd(t, harness.Reads{
		"whoami": get(src.Agent, s.Origins.API+"/v1/whoami"),
		"view":   get(src.Agent, s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID)+"/agent-view"),
	}, harness.Reads{
		"content":             get(s.Anyone, p.RevisionContentURL),
		"content of the link": get(s.Anyone, link.IframeSrc),
		"public view":         get(s.Anyone, p.AgentViewURL),
	}, func() { s.MustClaim(t, c, src.ClaimToken) })
}

// TestF26APublicationAndAClaimOvertakeEachOther holds each at its commit while the other commits.
func TestF26APublicationAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src := s.NewClaimant(t), s.NewSource(t)
	d, key := s.DraftBlank(t, src.Agent, ""), wire.NewKey()
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Publish(src.Agent, key, d.ArtifactID, d.RevisionID)
	}, func() {
		s.MustClaim(t, c, src.ClaimToken)
	})
	harness.WantRefused(t, late, 401, fault.NotAuthenticated)
	wantSameArtifacts(t, "the draft comes along", harness.ListArtifacts(t, c.Agent, 50), []id.Artifact{d.ArtifactID})
	harness.Must(c.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t) // migrates on write

	src = s.NewSource(t)
	d = s.DraftBlank(t, src.Agent, "")
	s.JobFaults.On("TransactWriteItems").Before(chaos.Run(func() {
		a, err := harness.Publish(src.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID)
		if err != nil || a.Status != http.StatusOK {
			t.Errorf("publishing before the commit of the claim answers %d %s (%v)", a.Status, a.Body, err)
		}
	}))
	s.MustClaim(t, c, src.ClaimToken)
	if v, err := c.AgentView(ctx, d.ArtifactID); err != nil || v.RevisionID != d.RevisionID {
		t.Errorf("what was published before the claim is not part of it: %v", err)
	}
}

// TestF27AnUploadAndAClaimOvertakeEachOther does it with sessions: a pending one never ends, for whomever.
func TestF27AnUploadAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src, other := s.NewClaimant(t), s.NewSource(t), s.NewSource(t)
	wanted := wire.Declare("late", harness.Page("late"))
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Create(other.Agent, wire.NewKey(), wanted)
	}, func() {
		s.MustClaim(t, c, other.ClaimToken)
	})
	harness.WantRefused(t, late, 401, fault.NotAuthenticated)
	pending, racing := s.Upload(t, src.Agent, "", "pending"), s.Upload(t, src.Agent, "", "racing")
	late = s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Finalize(src.Agent, wire.NewKey(), racing.UploadSessionID)
	}, func() { s.MustClaim(t, c, src.ClaimToken) })
	harness.WantRefused(t, late, 401, fault.NotAuthenticated)
	for _, u := range []contract.Session{pending, racing} {
		harness.WantRefused(
			t, harness.Must(harness.Finalize(src.Agent, wire.NewKey(), u.UploadSessionID))(t), 401, fault.NotAuthenticated,
		)
		harness.WantRefused(
			t, harness.Must(harness.Finalize(c.Agent, wire.NewKey(), u.UploadSessionID))(t), 404, fault.NotFound,
		)
		if status := s.SessionStatus(t, u.UploadSessionID); status != "pending" {
			t.Errorf("the session is %s", status)
		}
	}
	wantSameArtifacts(t, "unfinished uploads are no part", harness.ListArtifacts(t, c.Agent, 50), nil)
	third := s.NewSource(t)
	u := s.Upload(t, third.Agent, "", "finalized in time")
	s.JobFaults.On("TransactWriteItems").Before(chaos.Run(func() {
		a, err := harness.Finalize(third.Agent, wire.NewKey(), u.UploadSessionID)
		if err != nil || a.Status != http.StatusOK {
			t.Errorf("finalizing before the commit of the claim answers %d %s (%v)", a.Status, a.Body, err)
		}
	}))
	s.MustClaim(t, c, third.ClaimToken)
	wantSameArtifacts(t, "a draft is", harness.ListArtifacts(t, c.Agent, 50), []id.Artifact{u.ArtifactID})
}
