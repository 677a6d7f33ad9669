// Package mcp assembles the MCP host.
package mcp

import (
	"errors"
	"log/slog"
	"net/http"

	"vitrine/functions/assembly"
	"vitrine/functions/mcp"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/env"
	"vitrine/shared/publishing/edit"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Settings are further settings that only this host requires.
var Settings = []string{env.MCPURL}

// Handler returns the MCP host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	c := s.Config
	limiter := s.Limiter("mcp")
	members, err1 := s.MemberAccess(c.Origins.MCP, true)
	confirmations, err2 := c.Rings.Pepper.Derive("mcp confirmation")
	account, err3 := s.Account()
	artifacts, err4 := s.Artifacts()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	members.Named = true
	views := s.Views(artifacts, limiter)
	views.Bytes = s.Blobs
	uploads := s.Uploads()
	h := &mcp.Host{
		Surface:       s.Public("Vitrine MCP", c.Origins.MCP, log),
		Origins:       c.Origins,
		Server:        oauth.MCPMetadata(c.Origins, s.Features()),
		Resource:      oauth.MCPResourceMetadata(c.Origins, c.Policy.Brand),
		Members:       members,
		Limiter:       limiter,
		Confirmations: confirmations,
		Now:           c.Now,
		Limits:        &s.Config.Limits,
		Loads:         c.Policy.Loads,
		Manual:        s.Manual(),
		Name:          c.Policy.Brand.Title(),
		Account:       account,
		Artifacts:     artifacts,
		Edits: &edit.Service{
			Uploads:   uploads,
			Artifacts: artifacts,
			Store:     s.Stores.Edits,
			Objects:   s.Blobs,
			Now:       c.Now,
		},
		Uploads:     uploads,
		Views:       views,
		Links:       s.Links(artifacts),
		Threads:     s.Feedback(artifacts, views, limiter),
		Waits:       s.Streams(),
		Comparisons: s.Comparisons(artifacts),
	}
	return h.Handler(), nil
}
