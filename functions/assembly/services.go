package assembly

import (
	"cmp"
	"context"
	"errors"
	"time"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
)

// Services holds what the hosts of a deployment are made of. Its methods make what several hosts need. The package of
// each host makes the rest from Stores and Blobs, so that its function links no other code and holds no other key.
type Services struct {
	Config Config
	Stores dynamo.Stores
	Blobs  *blob.Store

	cache *cache.Cache
}

// Open makes the clients and stores. Its error names everything that is wrong with the configuration.
func Open(c Config) (*Services, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	objects, err := c.s3()
	if err != nil {
		return nil, err
	}
	edge := c.Origins.Upload
	if c.DirectPut {
		edge = ""
	}
	var options []dynamo.Option
	if !c.Policy.SignIn.Anybody() {
		options = append(options, dynamo.JudgeSignIns)
	}
	return &Services{
		Config: c,
		Stores: dynamo.New(c.dynamodb(), c.Tables, options...),
		Blobs:  blob.New(objects, c.Bucket, edge),
		cache:  cache.New(c.Limits.Cache),
	}, nil
}

// CreateTables makes the tables and the quota of new workspaces if they are missing. In AWS the stacks have made them.
func (s *Services) CreateTables(ctx context.Context) error {
	if err := dynamo.CreateTables(ctx, s.Config.dynamodb(), s.Config.Tables); err != nil {
		return err
	}
	return s.Stores.Workspaces.InitQuota(ctx, ephemeral.Quota{PerMinute: s.perMinute()}, s.Config.Now())
}

// perMinute returns how many ephemeral workspaces a new deployment makes in a minute.
func (s *Services) perMinute() int { return cmp.Or(s.Config.Policy.PerMinute, limits.ProvisionQuota) }

// Peppers returns the keys that hash credentials. It needs the ring pepper.
func (s *Services) Peppers() (keyring.Derived, error) {
	return s.Config.Rings.Pepper.Derive("credential")
}

// cursors returns the codec for cursors of lists. It needs the ring seal.
func (s *Services) cursors() (*cursor.Codec, error) { return cursor.New(s.Config.Rings.Seal) }

// urls returns what builds and checks signed URLs. It needs the rings content and links.
func (s *Services) urls() (*address.URLBuilder, error) {
	c := s.Config
	b := &address.URLBuilder{Origins: c.Origins}
	var err1, err2, err3, err4, err5 error
	b.ContentToken, err1 = token.New(c.Rings.Content, token.Content, c.Origins.Content)
	b.BundleToken, err2 = token.New(c.Rings.Content, token.Bundle, c.Origins.Content)
	b.ViewToken, err3 = token.New(c.Rings.Content, token.AgentView, c.Origins.API)
	b.Links, err4 = token.NewLinkCodec(c.Rings.Links, c.Origins.App)
	b.ExportToken, err5 = token.New(c.Rings.Content, token.Export, c.Origins.Content)
	return b, errors.Join(err1, err2, err3, err4, err5)
}
