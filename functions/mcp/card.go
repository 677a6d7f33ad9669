package mcp

import (
	_ "embed"
	"html"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// cardURI is the resource of the app that shows a result to a person.
const cardURI = "ui://vitrine/card.html"

// appMedia is the media type of apps, and appExtension the extension that defines them.
//
// Source: MCP Apps 2026-01-26, https://github.com/modelcontextprotocol/ext-apps.
const (
	appMedia     = "text/html;profile=mcp-app"
	appExtension = "io.modelcontextprotocol/ui"
)

// extensions lists the extensions of the protocol that this host supports.
var extensions = map[string]any{
	appExtension:    map[string]any{"mimeTypes": []string{appMedia}},
	skillsExtension: map[string]any{},
}

//go:embed assets/card.html
var card string

// appMeta tells clients to show an app with a border and to allow it no network.
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

// addCard adds the card to the server's resources.
func (h *Host) addCard(s *mcp.Server) {
	text := strings.ReplaceAll(card, "{{name}}", html.EscapeString(h.name()))
	s.AddResource(&mcp.Resource{
		URI:         cardURI,
		Name:        "card",
		Title:       "Artifact",
		Description: "Shows what was published or read, with a button that opens it",
		MIMEType:    appMedia,
		Size:        int64(len(text)),
		Meta:        appMeta(),
	}, constant(&mcp.ResourceContents{
		URI:      cardURI,
		MIMEType: appMedia,
		Text:     text,
		Meta:     appMeta(),
	}))
}

// cardKey is the key in a result's metadata for what only the card gets, and not the model.
const cardKey = "vitrine/card"

// cardFacts is what the card shows in addition to the result.
type cardFacts struct {
	Visibility string `json:"visibility,omitempty"` // empty: not known
	Pinned     bool   `json:"pinned,omitempty"`
}

// cardMeta returns what the card is told about the artifact of a call; nil if that is not known. An artifact that the
// call made is private. That is not certain when the call is a repetition, because the artifact may have been shared
// since.
func (h *Host) cardMeta(c *call, made bool) mcp.Meta {
	switch a := c.Artifact; {
	case a != nil:
		return mcp.Meta{cardKey: cardFacts{Visibility: h.visibility(a), Pinned: !a.PinnedAt.IsZero()}}
	case made && c.Record == nil:
		return mcp.Meta{cardKey: cardFacts{Visibility: sharing.Private}}
	}
	return nil
}

// visibility returns who can open an artifact, as far as the artifact itself tells. It returns "" if a link may be
// open.
func (h *Host) visibility(a *artifact.Artifact) string {
	switch {
	case !a.LinksLockedAt.IsZero(), !a.Linked():
		return sharing.Private
	case a.Shared(h.Now()) != "":
		return sharing.Unlisted
	}
	return ""
}
