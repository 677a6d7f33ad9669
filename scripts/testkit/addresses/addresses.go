// Package addresses gives a test the URLs of a deployment, with keys of their own.
package addresses

import (
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/token"
)

// Origins are the hosts of the deployment.
var Origins = address.Origins{API: "https://api.test", Content: "https://content.test", App: "https://app.test"}

// New returns a builder that mints every kind of token.
func New(t testing.TB) *address.URLBuilder {
	t.Helper()
	return At(t, Origins)
}

// At returns a builder for other origins.
func At(t testing.TB, o address.Origins) *address.URLBuilder {
	t.Helper()
	rings := keyring.New()
	b := &address.URLBuilder{Origins: o}
	var errs [5]error
	b.ContentToken, errs[0] = token.New(rings.Content, token.Content, o.Content)
	b.BundleToken, errs[1] = token.New(rings.Content, token.Bundle, o.Content)
	b.ExportToken, errs[2] = token.New(rings.Content, token.Export, o.Content)
	b.ViewToken, errs[3] = token.New(rings.Content, token.AgentView, o.API)
	b.Links, errs[4] = token.NewLinkCodec(rings.Links, o.App)
	expect.OK(t, errs[:]...)
	return b
}
