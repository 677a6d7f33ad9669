package api

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"text/template"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

//go:embed auth.md
var authMD string

var guideTemplate = template.Must(template.New("auth.md").Parse(authMD))

// guideFacts is what the guide for agents says of a deployment.
type guideFacts struct {
	address.Origins
	Name      string // of the deployment
	Types     string // of registrations, for people
	Ephemeral bool   // anybody can publish without an account
	Anonymous bool   // agents can register without a person
	Vouched   bool   // agents can register by an identity provider
	Life      string // of an artifact of an unclaimed agent
}

// authMD returns the guide for agents.
func (h *Host) authMD() ([]byte, error) {
	all := h.Features.IdentityTypes()
	facts := guideFacts{
		Origins:   h.URLs.Origins,
		Name:      h.Features.Brand.Title(),
		Types:     "none until the operator sets it up: `POST /agent/identity` answers 503 `temporarily_unavailable`",
		Ephemeral: !h.Features.NoEphemeral,
		Anonymous: !h.Features.NoAnonymous,
		Vouched:   slices.Contains(all, contract.AssertionIdentity),
		Life:      text.Span(h.Limits.Tiers[limits.Ephemeral].DefaultLife),
	}
	switch {
	case len(all) > 0:
		facts.Types = "`" + strings.Join(all, "`, `") + "`"
	case h.Features.NoAnonymous:
		facts.Types = "none: `POST /agent/identity` answers 403 `access_denied`"
	}
	var b bytes.Buffer
	err := guideTemplate.Execute(&b, facts)
	return b.Bytes(), err
}
