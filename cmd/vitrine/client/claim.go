package client

import (
	"context"
	"net/http"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/contract"
)

// ParseClaimToken parses a claim token. It refuses any other text, which may be another secret: that text is neither
// sent nor quoted.
func ParseClaimToken(text string) (secret.Text, error) {
	if !claimTokenForm.MatchString(text) {
		return "", failure.New(failure.Invalid, failure.Usage, "this is not a claim token; it was not sent").
			Advise("A claim token begins with ap_ct_; a claim link ends with # and the token. Copy all of it.")
	}
	return secret.Text(text), nil
}

// Claim moves everything in the workspace of a claim token into the person's workspace. The returned IDs of artifacts
// are well-formed.
func (m *Member) Claim(ctx context.Context, idem string, token secret.Text) (c contract.Claimed, err error) {
	k := m.call(http.MethodPost, "/v1/ephemeral/claim")
	k.idem = idem
	k.body = contract.ClaimRequest{ClaimToken: string(token)}
	k.about = aboutClaim
	if err = m.caller.do(ctx, k, &c); err != nil {
		return c, err
	}
	for _, artifact := range c.ArtifactIDs {
		if _, malformed := artifact.Bits(); malformed != nil {
			err = m.caller.badResponse(m.Hosts.APIURL, "the id of an artifact is malformed")
		}
	}
	return c, err
}
