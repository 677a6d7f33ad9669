package boot

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/access"
	"vitrine/shared/account"
	"vitrine/shared/address"
	"vitrine/shared/artifact"
	"vitrine/shared/blob"
	"vitrine/shared/content"
	"vitrine/shared/credential"
	"vitrine/shared/cursor"
	"vitrine/shared/dynamo"
	"vitrine/shared/ephemeral"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
	"vitrine/shared/rate"
	"vitrine/shared/token"
	"vitrine/shared/upload"
	"vitrine/shared/view"
)

// services are what hosts are made of: clients, stores and keys, from which each host takes what it needs.
type services struct {
	config    Config
	store     *dynamo.Store
	blobs     *blob.Store
	rings     keyring.Set
	peppers   keyring.Derived
	addresses *address.Book
}

func assemble(ctx context.Context, c Config) (*services, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &services{config: c}
	var err error
	if s.rings, err = rings(c.RingsFile); err != nil {
		return nil, err
	}
	if s.peppers, err = s.rings.Pepper.Derive("credential"); err != nil {
		return nil, err
	}
	if s.addresses, err = book(c.Origins, s.rings); err != nil {
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
	s.blobs = blob.New(objects, c.Bucket, edge)
	client := c.dynamodb()
	s.store = dynamo.New(client, dynamo.Named(c.Tables))
	if c.CreateTables {
		if err := dynamo.CreateTables(ctx, client, dynamo.Named(c.Tables)); err != nil {
			return nil, err
		}
		err = s.store.OpenGate(ctx, ephemeral.Gate{PerMinute: limits.ProvisionGate}, c.Now())
	}
	return s, err
}

func book(o address.Origins, rings keyring.Set) (*address.Book, error) {
	b := &address.Book{Origins: o}
	var err1, err2, err3 error
	b.ContentToken, err1 = token.New(rings.Content, token.Content, o.Content)
	b.ViewToken, err2 = token.New(rings.Content, token.AgentView, o.API)
	b.Links, err3 = token.NewLinkCodec(rings.Links, o.App)
	return b, errors.Join(err1, err2, err3)
}

func (s *services) limits() *limits.Limits { return &s.config.Limits }

func (s *services) limiter(host string) *rate.Limiter {
	return &rate.Limiter{Counters: s.store, Limits: s.limits(), Host: host, Now: s.config.Now}
}

func (s *services) authenticator() *access.Authenticator {
	return &access.Authenticator{
		Store: s.store, Peppers: s.peppers, Limits: s.limits(), Environment: s.config.Environment, Now: s.config.Now,
	}
}

func (s *services) account() *account.Reader {
	return &account.Reader{Store: s.store, Limits: s.limits(), Now: s.config.Now}
}

func (s *services) revoker() *credential.Revoker {
	return &credential.Revoker{Store: s.store, Now: s.config.Now}
}

func (s *services) provisioner(limiter *rate.Limiter) *ephemeral.Provisioner {
	return &ephemeral.Provisioner{
		Store: s.store, Limiter: limiter, Counters: s.store, Limits: s.limits(), Peppers: s.peppers, Environment: s.config.Environment, Now: s.config.Now,
	}
}

func (s *services) publisher() *artifact.Publisher {
	return &artifact.Publisher{Store: s.store, Addresses: s.addresses, Limits: s.limits(), Now: s.config.Now}
}

func (s *services) deleter() *artifact.Deleter {
	return &artifact.Deleter{Store: s.store, Now: s.config.Now}
}

func (s *services) lister() (*artifact.Lister, error) {
	cursors, err := cursor.New(s.rings.Seal)
	return &artifact.Lister{Store: s.store, Cursors: cursors, Now: s.config.Now}, err
}

func (s *services) viewer(limiter *rate.Limiter) *view.Viewer {
	return &view.Viewer{Store: s.store, Addresses: s.addresses, Limits: s.limits(), Limiter: limiter, Now: s.config.Now}
}

func (s *services) creator() *upload.Creator {
	return &upload.Creator{Store: s.store, Objects: s.blobs, Now: s.config.Now}
}

func (s *services) finalizer() *upload.Finalizer {
	return &upload.Finalizer{Store: s.store, Objects: s.blobs, Now: s.config.Now}
}

func (s *services) reader(limiter *rate.Limiter) *content.Reader {
	return &content.Reader{Tokens: s.addresses.ContentToken, Store: s.store, Bytes: s.blobs, Limiter: limiter, Now: s.config.Now}
}
