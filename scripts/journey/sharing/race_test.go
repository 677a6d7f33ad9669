package sharing

import (
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// The commands of links as requests that a goroutine may send.

func createAsync(g *wire.Agent, a id.Artifact, r contract.CreateLink) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.APIURL+harness.LinksPath(a), r, harness.KeyHeader()...)
}

func revokeAsync(g *wire.Agent, l id.Link) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.APIURL+harness.LinkPath(l, "revoke"), nil)
}

func setVisibilityAsync(g *wire.Agent, a id.Artifact, word string) (wire.Answer, error) {
	return g.Do(ctx, "PUT", g.At.APIURL+"/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: word})
}

// TestF73TwoWhoShareAtOnceHaveOneLink lets many share, by link and by visibility.
func TestF73TwoWhoShareAtOnceHaveOneLink(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	var first id.Link
	one := func(what string, got id.Link) {
		if first == "" {
			first = got
		}
		if got != first || got == "" {
			t.Errorf("%s is %q, another %q", what, got, first)
		}
	}
	for n, answer := range s.Concurrently(t, 8, func(n int) (wire.Answer, error) {
		if n%4 == 3 {
			return setVisibilityAsync(s.Agent, a, "unlisted")
		}
		return createAsync(s.Agent, a, harness.ShareLink)
	}) {
		if n%4 == 3 {
			var v contract.Visibility
			harness.Decode(t, answer, &v)
			one("unlisted", v.AccessLinkID)
			continue
		}
		var l contract.CreatedLink
		harness.Decode(t, answer, &l)
		one("a share link", l.ID)
	}
	if n := s.CountItems(t, s.Tables.Core, "AL#"); n != 1 {
		t.Errorf("%d links were made", n)
	}
	s.OpenLink(t, harness.MintLink(t, s.Agent, first), "shared")
}

func TestALinkIsRevokedOnceHoweverManyTry(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for _, wanted := range []contract.CreateLink{harness.ShareLink, harness.RevisionLink(s.Published.RevisionID)} {
		l := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, wanted)
		var first *contract.Time
		for _, a := range s.Concurrently(t, 6, func(int) (wire.Answer, error) { return revokeAsync(s.Agent, l.ID) }) {
			var r contract.RevokedLink
			harness.Decode(t, a, &r)
			if wantOK(t, "revoke", a); first != nil && !first.Equal(r.RevokedAt.Time) {
				t.Errorf("revoked at %s and at %s", first, r.RevokedAt)
			}
			first = &r.RevokedAt
		}
	}
	if done := s.Events(t, s.Agent); done["access_link.revoked"] != 2 {
		t.Errorf("%v", done)
	}
}

// TestALinkThatIsOvertakenIsNeitherMadeNorLeft holds a creation while what it needs ends.
func TestALinkThatIsOvertakenIsNeitherMadeNorLeft(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for name, ends := range map[string]struct {
		code fault.Code
		do   func(id.Artifact)
	}{
		"a deletion": {fault.ArtifactNotFound, func(a id.Artifact) { harness.DeleteArtifact(t, s.Agent, a) }},
		"a lock":     {fault.NotFound, func(a id.Artifact) { setLinkLock(t, s, a, true) }},
		"an operator's lock": {fault.ArtifactNotFound, func(a id.Artifact) {
			s.Update(t, "A#"+string(a), "META", map[string]any{"lock": "lkd_1"})
		}},
	} {
		for _, kind := range []string{"share", "revision"} {
			p := harness.PublishPage(t, s.Agent, "overtaken")
			late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
				return createAsync(s.Agent, p.ArtifactID, wanted(kind, p))
			}, func() { ends.do(p.ArtifactID) })
			if late.Status != http.StatusNotFound || late.Code() != ends.code {
				t.Errorf("a %s link that %s overtakes: %d %s", kind, name, late.Status, late.Body)
			}
		}
	}
	if n := s.CountItems(t, s.Tables.Core, "AL#"); n != 0 {
		t.Errorf("%d links were made", n)
	}
}

// TestAClosingAndACreationOvertakeEachOther has the clock stand still: the link that comes later lives, and no other.
func TestAClosingAndACreationOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for _, kind := range []string{"share", "revision"} {
		p := harness.PublishPage(t, s.Agent, "raced")
		old := s.OpenLink(t, harness.ShareURL(t, s.Agent, p.ArtifactID), "raced")
		var made contract.CreatedLink
		late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return createAsync(s.Agent, p.ArtifactID, wanted(kind, p))
		}, func() {
			harness.SetVisibility(t, s.Agent, p.ArtifactID, "private")
		})
		harness.Decode(t, late, &made)
		s.WantLinksClosed(t, old)
		s.OpenLink(t, harness.MintLink(t, s.Agent, made.ID), "raced") // it was made after the closing
		var next contract.CreatedLink
		closed := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return setVisibilityAsync(s.Agent, p.ArtifactID, "private")
		}, func() {
			next = harness.CreateLink(t, s.Agent, p.ArtifactID, harness.RevisionLink(p.RevisionID))
		})
		wantOK(t, "private", closed)
		harness.WantRefused(
			t, harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinkPath(next.ID, "mint"), nil), 404, fault.NotFound,
		)
		if row := harness.LinkRows(t, s.Agent, p.ArtifactID)[next.ID]; row.RevokedAt == nil {
			t.Errorf("a link from before the closing is listed as live: %+v", row)
		}
	}
}

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
		"deletion":      {all, func(a *shownArtifact) { harness.DeleteArtifact(t, s.Agent, a.id) }},
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
