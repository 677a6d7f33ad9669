package provider

import (
	"cmp"
	"context"
	"errors"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
)

// keySet holds the keys that one provider published last. Verifier.mu guards it.
type keySet struct {
	keys       map[string][]publicKey // by key id, replaced as a whole; nil: never read
	freshUntil time.Time
	// failed is the error of the last reading; nil: it succeeded.
	failed error
	// retryAt is when stale keys may be read again after a failure. searchAt is when fresh keys may be read again because
	// of an unknown id.
	retryAt, searchAt time.Time
	reading           chan struct{} // closed when the reading under way ends; nil: none is
}

func (s *keySet) fresh(now time.Time) bool { return s.keys != nil && now.Before(s.freshUntil) }

// due reports whether the keys need to be read and may be. known reports whether they include the requested one.
func (s *keySet) due(now time.Time, known bool) bool {
	if s.fresh(now) {
		return !known && !now.Before(s.searchAt)
	}
	return !now.Before(s.retryAt)
}

// result returns the keys with an id, or none if the provider publishes none. It fails if it cannot tell, because the
// keys could not be read.
func (s *keySet) result(now time.Time, kid string) ([]publicKey, error) {
	usable := s.keys != nil && now.Before(s.freshUntil.Add(limits.MaxKeySetLife))
	if usable && (len(s.keys[kid]) > 0 || s.failed == nil) {
		return s.keys[kid], nil
	}
	return nil, cmp.Or(s.failed, errNoKeys)
}

var errNoKeys = errors.New("the keys were not read yet, or are too old")

// keys returns the keys of a provider with an id, or none if it publishes none. It reads the keys if none are known, if
// they are stale, and at most once in limits.KeySearchEvery for an unknown id. One reading of a provider runs at a
// time; callers that need it wait for as long as their contexts allow. While reading fails, the last keys serve.
func (v *Verifier) keys(ctx context.Context, p *Provider, kid string) ([]publicKey, error) {
	for {
		keys, reading, err := v.lookup(ctx, p, kid)
		if reading == nil {
			return keys, err
		}
		select {
		case <-reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lookup returns the keys with an id, or a reading to wait for. It starts a reading that is due.
func (v *Verifier) lookup(ctx context.Context, p *Provider, kid string) ([]publicKey, <-chan struct{}, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sets == nil {
		v.sets = make(map[string]*keySet)
	}
	s := v.sets[p.Issuer]
	if s == nil {
		s = &keySet{}
		v.sets[p.Issuer] = s
	}
	now := v.Now()
	known := len(s.keys[kid]) > 0
	// A known key does not wait for a reading that another token's unknown key started.
	if s.fresh(now) && known || s.reading == nil && !s.due(now, known) {
		keys, err := s.result(now, kid)
		return keys, nil, err
	}
	if s.reading == nil {
		s.reading = make(chan struct{})
		if s.fresh(now) {
			s.searchAt = now.Add(limits.KeySearchEvery)
		}
		async.Start(func() error {
			v.read(context.WithoutCancel(ctx), p, s, kid)
			return nil
		})
	}
	return nil, s.reading, nil
}

// read replaces the keys of a provider by those that it publishes now. kid is the key that the waiting token names.
func (v *Verifier) read(ctx context.Context, p *Provider, s *keySet, kid string) {
	ctx, cancel := context.WithTimeout(ctx, limits.ProviderTimeout)
	defer cancel()
	var life time.Duration
	keys, err := async.Call(func() (keys map[string][]publicKey, err error) {
		var body []byte
		if body, life, err = v.Documents.Get(ctx, p.JWKS, limits.ProviderAnswer); err != nil {
			return nil, err
		}
		return parseKeys(body)
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.Now()
	s.failed = err
	switch {
	case err == nil:
		s.keys = keys
		s.freshUntil = now.Add(min(max(life, limits.MinKeySetLife), limits.MaxKeySetLife))
	case s.keys == nil:
		s.retryAt = now.Add(limits.KeySetRetry)
	default:
		s.retryAt = now.Add(limits.KeySearchEvery)
	}
	// An unknown id that started this reading must not start the next one at once: a flood of such tokens would go on.
	if len(s.keys[kid]) == 0 {
		s.searchAt = now.Add(limits.KeySearchEvery)
	}
	close(s.reading)
	s.reading = nil
}
