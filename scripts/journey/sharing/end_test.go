package sharing

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// shownArtifact is an artifact that is read in every way while something ends the reads.
type shownArtifact struct {
	id    id.Artifact
	link  id.Link // its share link
	op    *harness.Member
	key   *wire.Agent
	reads harness.Reads
}

func newShownArtifact(t *testing.T, s *harness.LinkEnv) *shownArtifact {
	t.Helper()
	p := harness.PublishPage(t, s.Agent, "shown")
	shared := harness.SetVisibility(t, s.Agent, p.ArtifactID, "unlisted")
	a := &shownArtifact{
		id:   p.ArtifactID,
		link: shared.AccessLinkID,
		op:   s.NewOperator(t),
		key:  s.NewKey(t, s.Agent, "read"),
	}
	opened := s.OpenLink(t, shared.UnlistedURL, "shown")
	public, blob, err := wire.SplitLink(shared.UnlistedURL)
	harness.NoError(t, err)
	get := func(g *wire.Agent, url string) func() (wire.Answer, error) {
		return func() (wire.Answer, error) { return g.Do(ctx, "GET", url, nil) }
	}
	view := s.Origins.API + "/v1/artifacts/" + string(a.id) + "/agent-view"
	a.reads = harness.Reads{
		"content":             get(s.Anyone, p.RevisionContentURL),
		"content of the link": get(s.Anyone, opened.Content),
		"public view":         get(s.Anyone, p.AgentViewURL),
		"view of the key":     get(a.key, view),
		"whoami of the key":   get(a.key, s.Origins.API+"/v1/whoami"),
		"what the link opens": func() (wire.Answer, error) {
			return s.Anyone.Do(ctx, "POST", s.Origins.API+"/v1/access-links/resolve",
				contract.ResolveRequest{PublicID: public, Blob: blob})
		},
	}
	return a
}

func TestNothingIsAnsweredThatBeginsAfterTheCommitOfItsEnd(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t, harness.Plenty)
	shared := []string{"content of the link", "what the link opens"}
	open := append(shared, "public view")
	all := append(open, "content", "view of the key")
	for name, tt := range map[string]struct {
		reads []string // that it ends
		end   func(a *shownArtifact)
	}{
		"deletion":      {all, func(a *shownArtifact) { wantOK(t, "the deletion", harness.TryDelete(t, s.Agent, a.id)) }},
		"revocation":    {shared, func(a *shownArtifact) { harness.RevokeLink(t, s.Agent, a.link) }},
		"private":       {open, func(a *shownArtifact) { harness.SetVisibility(t, s.Agent, a.id, "private") }},
		"lock of links": {open, func(a *shownArtifact) { setLinkLock(t, s, a.id, true) }},
		"lockdown":      {all, func(a *shownArtifact) { harness.Lock(t, a.op, "artifact", string(a.id)) }},
		"end of the key": {[]string{"view of the key", "whoami of the key"}, func(a *shownArtifact) {
			got := harness.Do(t, a.key, "POST", s.Origins.API+"/v1/api-keys/current/revoke", nil)
			wantOK(t, "the revocation", got)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newShownArtifact(t, s)
			ended := harness.Reads{}
			for _, read := range tt.reads {
				ended[read] = a.reads[read]
			}
			harness.RaceEnd(t, ended, nil, func() { tt.end(a) })
		})
	}
}
