package mcp

import (
	_ "embed"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// cardURI is the app that shows a result to a person.
const cardURI = "ui://vitrine/card.html"

// appMedia is the type of apps; appExtension is the extension that has them.
//
// Source: MCP Apps 2026-01-26, https://github.com/modelcontextprotocol/ext-apps.
const (
	appMedia     = "text/html;profile=mcp-app"
	appExtension = "io.modelcontextprotocol/ui"
)

// extensions are those of the protocol that this host has.
var extensions = map[string]any{
	appExtension:    map[string]any{"mimeTypes": []string{appMedia}},
	skillsExtension: map[string]any{},
}

//go:embed assets/card.html
var card string

// appMeta says how clients show an app: with a border, and without any network.
func appMeta() mcp.Meta {
	none := []string{}
	return mcp.Meta{"ui": map[string]any{
		"prefersBorder": true,
		"csp": map[string]any{
			"connectDomains":  none,
			"resourceDomains": none,
			"frameDomains":    none,
			"baseUriDomains":  none,
		},
	}}
}

// addCard offers the card.
func addCard(s *mcp.Server) {
	s.AddResource(&mcp.Resource{
		URI:         cardURI,
		Name:        "card",
		Title:       "Artifact",
		Description: "Shows what was published or read, with a button that opens it",
		MIMEType:    appMedia,
		Size:        int64(len(card)),
		Meta:        appMeta(),
	}, constant(&mcp.ResourceContents{
		URI:      cardURI,
		MIMEType: appMedia,
		Text:     card,
		Meta:     appMeta(),
	}))
}

// cardKey is where a result tells the card what the model does not get.
const cardKey = "vitrine/card"

// cardFacts are what the card shows beside the result.
type cardFacts struct {
	Visibility string `json:"visibility,omitempty"` // empty: not known
	Pinned     bool   `json:"pinned,omitempty"`
}

// cardMeta tells the card about the artifact of a call, or about the one that the call made; nil: neither is known. One
// that was made may have been shared before the call is repeated.
func (h *Host) cardMeta(c *call, made bool) mcp.Meta {
	switch a := c.Artifact; {
	case a != nil:
		return mcp.Meta{cardKey: cardFacts{Visibility: h.visibility(a), Pinned: !a.PinnedAt.IsZero()}}
	case made && c.Record == nil:
		return mcp.Meta{cardKey: cardFacts{Visibility: sharing.Private}}
	}
	return nil
}

// visibility is who can open an artifact, as far as the artifact itself tells; empty where a link may be open.
func (h *Host) visibility(a *artifact.Artifact) string {
	switch {
	case !a.LinksLockedAt.IsZero(), !a.Linked():
		return sharing.Private
	case a.Shared(h.Now()) != "":
		return sharing.Unlisted
	}
	return ""
}
