package dynamo

import (
	"context"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Claims stores claim tokens, commits claims, and moves claimed artifacts.
type Claims struct{ *db }

var (
	_ agentauth.Mover  = Claims{}
	_ claim.Migrations = Claims{}
	_ claim.Store      = Claims{}
)

func claimTokenItem(t claim.Token) item {
	return encode(claimTokenKey(t.Public), &t, claimTokenFields).ttl(t.ExpiresAt.Add(limits.MovedLife))
}

// Token implements claim.Store.
func (s Claims) Token(ctx context.Context, public id.Public) (*claim.Token, error) {
	i, err := s.get(ctx, claimTokenKey(public))
	return readClaimToken(i, public), err
}

func claimTokenFields(f fields, t *claim.Token) {
	text(f, "id", &t.ID)
	text(f, "ws", &t.Workspace)
	text(f, "reg", &t.Registration)
	f.hash("mac", "pepper", &t.Hash)
	text(f, "code", &t.ClaimCode)
	f.life(&t.CreatedAt, &t.ExpiresAt)
	f.time("redeemed", &t.RedeemedAt)
}

func readClaimToken(i item, public id.Public) *claim.Token {
	return decode(i, &claim.Token{Public: public}, claimTokenFields)
}

// Move implements claim.Store.
func (s Claims) Move(ctx context.Context, m claim.Move) error {
	t := s.begin()
	if m.Command != nil {
		t.finish(*m.Command, m.Result, m.At)
	}
	s.redeem(t, m)
	if m.Registration != "" {
		s.verify(t, m)
	}
	s.closeSource(t, m)
	t.check(workspaceKey(m.Destination),
		"attribute_exists(#claimed_at) AND "+opened, nil,
		func(item) error {
			return fault.New(fault.NotAuthenticated, "the workspace of this credential was closed")
		})
	t.put(newItem(aliasKey(m.Destination, m.Source)).time("floor", m.MinExpiry).time("since", m.At),
		"attribute_not_exists(#pk)", nil, claimGone)
	t.put(newItem(migrationKey(m.Source)).str("into", string(m.Destination)).time("since", m.At).
		str("g2p", queueOf(migrationDue, string(m.Source))).str("g2s", millisKey(m.At)),
		"attribute_not_exists(#pk)", nil, claimGone)
	for _, e := range m.Events {
		t.record(e)
	}
	return s.commit(ctx, t)
}

func claimGone(item) error { return claim.ErrGone }

// redeem marks the token as used.
func (s Claims) redeem(t *transaction, m claim.Move) {
	t.update(claimTokenKey(m.Token.Public), "SET #redeemed = :now",
		"attribute_not_exists(#redeemed) AND #exp > :now AND #mac = :mac AND #ws = :source",
		values{"now": m.At, "mac": m.Token.Hash.MAC, "source": string(m.Source)}, claimGone)
}

// verify completes the agent's registration. Assertions and access tokens from before the claim become invalid, because
// the generation changes and they belong to the old workspace. The attributes used here: state, gen, ws, member,
// completed_at, keys, locked and exp; of the newest attempt attempt (its number), attempt_exp and tries.
//
// A claim by a code lets the agent in: the registration moves along and is listed. A claim by the token alone does not:
// the registration stays with the source, which is closed, so that no further credential is made for it.
func (s Claims) verify(t *transaction, m claim.Move) {
	set := "SET #state = :verified, #member = :member, #completed_at = :now"
	condition := "#ws = :source AND #exp > :now AND attribute_not_exists(#locked) AND "
	v := values{
		"verified": string(agentauth.Verified),
		"member":   string(m.Member),
		"now":      m.At,
		"one":      1,
		"source":   string(m.Source),
		"pending":  string(agentauth.ClaimPending),
	}
	if m.Attempt == 0 {
		condition += "#state IN (:unclaimed, :pending)"
		v["unclaimed"] = string(agentauth.Unclaimed)
	} else {
		set += ", #ws = :into, #g1p = :list, #g1s = :sort"
		v["into"] = string(m.Destination)
		v["list"] = registrationsOf(m.Destination)
		v["sort"] = timeKey(m.At, m.Registration)
		condition += "#state = :pending AND #attempt = :attempt AND #attempt_exp > :now AND " +
			"(attribute_not_exists(#tries) OR #tries < :most)"
		v["attempt"], v["most"] = m.Attempt, limits.AttemptTries
	}
	t.update(registrationKey(m.Registration), set+" REMOVE #keys ADD #gen :one, #ver :one", condition, v, claimGone)
}

// closeSource points the source at the destination and closes every fence, so that writes under way in the source fail.
// The metadata stays until the artifacts are moved. The fences may expire together with the credentials of the source.
func (s Claims) closeSource(t *transaction, m claim.Move) {
	t.update(workspaceKey(m.Source), "SET #into = :into, #floor = :floor, #claimed_at = :now",
		"attribute_exists(#pk) AND attribute_not_exists(#into) AND "+
			"attribute_not_exists(#claimed_at) AND attribute_not_exists(#lock)",
		values{"into": string(m.Destination), "floor": m.MinExpiry, "now": m.At}, claimGone)
	for n := range fences {
		t.update(fenceKey(m.Source, n), "SET #into = :into, #ttl = :ttl",
			"attribute_not_exists(#into) AND attribute_not_exists(#lock)",
			values{"into": string(m.Destination), "ttl": m.At.Add(limits.MovedLife).Unix()}, claimGone)
	}
}
