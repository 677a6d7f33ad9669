package assembly

import (
	"errors"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

// Uploads returns the service that opens upload sessions and makes drafts of them.
func (s *Services) Uploads() *upload.Service {
	return &upload.Service{
		Store:   s.Stores.Uploads,
		Index:   s.Stores.ContentIndex,
		Objects: s.Blobs,
		Limits:  &s.Config.Limits,
		Loads:   s.Config.Policy.Loads,
		Own:     s.Config.Origins.Own != "",
		Now:     s.Config.Now,
	}
}

// Artifacts returns the service that publishes, lists, changes and ends artifacts. It needs the rings seal, content and
// links.
func (s *Services) Artifacts() (*artifact.Service, error) {
	cursors, err1 := s.cursors()
	urls, err2 := s.urls()
	return &artifact.Service{
		Store:   s.Stores.Artifacts,
		URLs:    urls,
		Cursors: cursors,
		Limits:  &s.Config.Limits,
		Threads: feedback.Closer{Store: s.Stores.Feedback},
		Now:     s.Config.Now,
	}, errors.Join(err1, err2)
}

// Links returns the service that makes, lists, locks and ends access links.
func (s *Services) Links(artifacts *artifact.Service) *sharing.Service {
	return &sharing.Service{
		Store:     s.Stores.Links,
		Changes:   s.Stores.Links,
		Addresses: artifacts.URLs,
		Cursors:   artifacts.Cursors,
		Now:       s.Config.Now,
	}
}

// Feedback returns the service of threads about artifacts. views reads files back. A host that begins threads
// sets Anchors.
func (s *Services) Feedback(
	artifacts *artifact.Service, views *view.Service, limiter *rate.Limiter,
) *feedback.Service {
	return &feedback.Service{
		Store:     s.Stores.Feedback,
		Artifacts: artifacts,
		Files:     views,
		Cursors:   artifacts.Cursors,
		Limiter:   limiter,
		Limits:    &s.Config.Limits,
		Now:       s.Config.Now,
	}
}

// Comparisons returns the service that compares revisions.
func (s *Services) Comparisons(artifacts *artifact.Service) *comparison.Service {
	return &comparison.Service{
		Store:   s.Stores.Artifacts,
		Bytes:   s.Blobs,
		Cursors: artifacts.Cursors,
		Now:     s.Config.Now,
	}
}

// Views returns the service for agent views and access links. A host that reads files back adds Bytes.
func (s *Services) Views(artifacts *artifact.Service, limiter *rate.Limiter) *view.Service {
	return &view.Service{
		Store:     s.Stores.Artifacts,
		Addresses: artifacts.URLs,
		Limits:    &s.Config.Limits,
		Limiter:   limiter,
		Cursors:   artifacts.Cursors,
		Cache:     s.cache,
		Now:       s.Config.Now,
	}
}

// Exports returns the service that exports everything in a workspace.
func (s *Services) Exports(urls *address.URLBuilder, limiter *rate.Limiter) *export.Service {
	return &export.Service{
		Store:   s.Stores.Exports,
		Limiter: limiter,
		URLs:    urls,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
}

// Streams returns the caps on what occupies a function for long.
func (s *Services) Streams() *rate.Streams {
	return &rate.Streams{Store: s.Stores.Counters, Limits: &s.Config.Limits, Now: s.Config.Now}
}

// Content returns the reader of files by signed token. It needs the ring content.
func (s *Services) Content(limiter *rate.Limiter) (*content.Reader, error) {
	ring, origin := s.Config.Rings.Content, s.Config.Origins.Content
	tokens, err1 := token.New(ring, token.Content, origin)
	bundles, err2 := token.New(ring, token.Bundle, origin)
	exports, err3 := token.New(ring, token.Export, origin)
	addresses, err4 := ring.Derive("address")
	return &content.Reader{
		Tokens:       tokens,
		Bundles:      bundles,
		ExportTokens: exports,
		Exports:      s.Stores.Exports,
		Store:        s.Stores.Artifacts,
		Bytes:        s.Blobs,
		Limiter:      limiter,
		Streams:      s.Streams(),
		Addresses:    addresses,
		Limits:       &s.Config.Limits,
		Cache:        s.cache,
		Now:          s.Config.Now,
	}, errors.Join(err1, err2, err3, err4)
}
