package api

import (
	_ "embed"
	"slices"
	"strings"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

//go:embed auth.md
var authMD string

// guidePart is a part of the guide for agents that depends on what the deployment offers.
type guidePart struct{ offered, otherwise string }

func (p guidePart) choose(offered bool) string {
	if offered {
		return p.offered
	}
	return p.otherwise
}

var (
	guideCLI = guidePart{
		"- If you can run commands, use the CLI: `vitrine publish ./site --ephemeral` gets a credential by itself.",
		"- Nobody publishes here without an account. If you can run commands, use the CLI: have the person run " +
			"`vitrine login`, or sign in at {app_url} and make you an API key.",
	}
	guideHTTP = guidePart{
		"- If you can only speak HTTP, go on reading. You never need a password, a browser or an account.",
		"- If you can only speak HTTP, ask the person for an API key{or_vouched}. No agent registers here without a person.",
	}
	guideOrVouched = guidePart{offered: ", or register with your identity provider, as below"}
	guideRegister  = guidePart{
		"## Without an account, step by step\n\n" +
			"1. **Register.** Keep `identity_assertion` and `claim_token` secret; both are shown once and hold for 7 days.\n\n" +
			"       curl -X POST {base_url}/agent/identity -H 'Content-Type: application/json' -d '{\"type\":\"anonymous\"}'",
		"{register_vouched}",
	}
	guideRegisterVouched = guidePart{
		"## Step by step\n\n" +
			"1. **Register** with your identity provider, as below. Keep `identity_assertion` and `claim_token` secret.",
		"## For agents that have registered\n\n" +
			"1. **Registration** is closed. `identity_assertion` and `claim_token` of earlier ones hold for 7 days.",
	}
	guideAlone   = guidePart{offered: " without a person"}
	guideAgain   = guidePart{", or register again", "; from the register endpoint: ask the person for an API key"}
	guideInstead = guidePart{"register anonymously", "ask the person for an API key"}
)

// authMD returns the guide for agents.
func (h *Host) authMD() []byte {
	all := h.Features.IdentityTypes()
	types := "none until the operator sets it up: `POST /agent/identity` answers 503 `temporarily_unavailable`"
	switch {
	case len(all) > 0:
		types = "`" + strings.Join(all, "`, `") + "`"
	case h.Features.NoAnonymous:
		types = "none: `POST /agent/identity` answers 403 `access_denied`"
	}
	anonymous, vouched := !h.Features.NoAnonymous, slices.Contains(all, contract.AssertionIdentity)
	parts := strings.NewReplacer(
		"{start}", guideCLI.choose(!h.Features.AccountsOnly)+"\n"+guideHTTP.choose(anonymous),
		"{register}", guideRegister.choose(anonymous),
		"{alone}", guideAlone.choose(anonymous),
		"{again}", guideAgain.choose(anonymous),
		"{instead}", guideInstead.choose(anonymous),
	).Replace(authMD)
	parts = strings.NewReplacer("{or_vouched}", guideOrVouched.choose(vouched),
		"{register_vouched}", guideRegisterVouched.choose(vouched)).Replace(parts)
	o := h.URLs.Origins
	return []byte(strings.NewReplacer(
		"{base_url}", o.API,
		"{upload_url}", o.Upload,
		"{app_url}", o.App,
		"{types}", types,
		"{life}", text.Span(h.Limits.Tiers[limits.Ephemeral].DefaultLife),
		"{name}", h.Features.Brand.Title(),
	).Replace(parts))
}
