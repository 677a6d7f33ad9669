package provider

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is the provider in its other role: agents run at it, and it signs what it says about their users. A provider
// has two, so that two providers of one person can be tried.
type Issuer struct {
	URL      string // the claim iss
	Name     string // for people
	ClientID string // the agents' client at the service
	audience string // the service's issuer
	now      func() time.Time

	mu   sync.Mutex
	keys keys // the first of an algorithm signs
	next keys // published before they sign; none: they are made when they are needed
	make func() (keys, error)
}

// secondPath is where the second issuer is.
const secondPath = "/second"

// Trusted is an entry of a service's trust list.
type Trusted struct {
	Issuer      string   `json:"issuer"`
	DisplayName string   `json:"display_name"`
	ClientIDs   []string `json:"client_ids"`
	JWKSURI     string   `json:"jwks_uri,omitempty"`
	Algorithms  []string `json:"algorithms,omitempty"`
	JIT         string   `json:"jit,omitempty"`
}

// Trusted returns the entry for this issuer. Its keys are at the default place.
func (i *Issuer) Trusted() Trusted {
	return Trusted{Issuer: i.URL, DisplayName: i.Name, ClientIDs: []string{i.ClientID}}
}

// TrustList returns the entries of both issuers.
func (p *Provider) TrustList() []Trusted { return []Trusted{p.First.Trusted(), p.Second.Trusted()} }

// openIssuers gives the first issuer the keys of the ID tokens, and the second a key of its own, for ES256 only.
func (p *Provider) openIssuers(o Options) error {
	first, err := openKeys(o.Data, keysFile, fresh)
	if err != nil {
		return err
	}
	second, err := openKeys(o.Data, secondKeysFile, makeEC)
	if err != nil {
		return err
	}
	issuer := func(path, name, client string, has keys, make func() (keys, error)) *Issuer {
		return &Issuer{
			URL:      o.Issuer + path,
			Name:     name,
			ClientID: client,
			audience: o.Audience,
			now:      o.Now,
			keys:     has,
			make:     make,
		}
	}
	p.First = issuer("", "Development agents", "agents", first, makeKeys)
	p.Second = issuer(secondPath, "Other development agents", "other-agents", second, makeEC)
	return nil
}

func makeEC() (keys, error) {
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return keys{jose.JSONWebKeySet{Keys: []jose.JSONWebKey{ecKey(e)}}}, err
}

// Rotate replaces all keys, in memory only.
func (i *Issuer) Rotate() error { return i.change(func(made keys) { i.keys = made }) }

// Announce publishes the keys that RollOver will sign with, as careful providers do. The change is in memory only.
func (i *Issuer) Announce() error { return i.change(func(made keys) { i.next = made }) }

// RollOver signs with the announced keys from now on, or with new ones, and publishes the ones before, until the next
// time, beside them. The change is in memory only.
func (i *Issuer) RollOver() error {
	return i.change(func(made keys) {
		if len(i.next.Keys) > 0 {
			made, i.next = i.next, keys{}
		}
		before := i.keys.Keys[:min(len(made.Keys), len(i.keys.Keys))]
		i.keys = keys{jose.JSONWebKeySet{Keys: slices.Concat(made.Keys, before)}}
	})
}

// change makes keys and does something with them.
func (i *Issuer) change(do func(made keys)) error {
	made, err := i.make()
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	do(made)
	return nil
}

// public returns what verifies.
func (i *Issuer) public() jose.JSONWebKeySet {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.keys.public()
	all.Keys = append(all.Keys, i.next.public().Keys...)
	return all
}

// signing returns the key for an algorithm; empty: ES256.
func (i *Issuer) signing(algorithm string) (jose.JSONWebKey, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys.signing(cmp.Or(algorithm, "ES256"))
}

// Assertion signs that a person who signed in at this issuer lets its agents act at the service: an ID-JAG.
func (i *Issuer) Assertion(a Assertion) (string, error) {
	return i.tell(assertionType, a.Algorithm, a.claims(i), assertionDefects, a.Hostile)
}

// Event signs a security event token.
func (i *Issuer) Event(e Event) (string, error) {
	return i.tell(eventType, e.Algorithm, e.claims(i), eventDefects, e.Hostile)
}

// tell signs what the issuer says to the service.
func (i *Issuer) tell(typ, algorithm string, claims map[string]any, all defects, h Hostile) (string, error) {
	if i.audience == "" {
		return "", errors.New("no service is configured that this provider could address")
	}
	s, err := i.statement(typ, algorithm)
	if err != nil {
		return "", err
	}
	s.claims = claims
	return s.signed(all, h)
}

func (i *Issuer) statement(typ, algorithm string) (*statement, error) {
	key, err := i.signing(algorithm)
	if err != nil {
		return nil, err
	}
	return &statement{
		issuer: i,
		header: map[string]any{"alg": key.Algorithm, "typ": typ, "kid": key.KeyID},
		key:    key.Key,
	}, nil
}
