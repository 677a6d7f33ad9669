package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/functions/assembly"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/seal"
	"vitrine/shared/platform/token"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// env runs the tool on a file of its own, with a clock that the test sets.
type env struct {
	file string
	now  time.Time
}

func newEnv(t *testing.T) *env {
	t.Helper()
	d := &env{file: filepath.Join(t.TempDir(), "rings.json"), now: began}
	d.set(t)
	return d
}

// set returns the rings as a process that starts now reads them.
func (d *env) set(t *testing.T) keyring.Set {
	t.Helper()
	set, err := assembly.LocalRings(d.file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// run takes one step; it fails the test if a key is printed.
func (d *env) run(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	var o, c strings.Builder
	code = run(t.Context(), append(args, "--file", d.file),
		tool{out: &o, complaints: &c, now: func() time.Time { return d.now }})
	set := d.set(t)
	for _, name := range keyring.Names() {
		for _, k := range set.Ring(name).Keys {
			text, err := k.Secret.MarshalText()
			if err != nil || strings.Contains(o.String()+c.String(), string(text)) ||
				strings.Contains(o.String()+c.String(), fmt.Sprintf("%x", []byte(k.Secret))) {
				t.Errorf("%v prints a key", args)
			}
		}
	}
	return code, o.String(), c.String()
}

// take takes a step that has to succeed.
func (d *env) take(t *testing.T, args ...string) string {
	t.Helper()
	code, out, complaints := d.run(t, args...)
	if code != 0 || complaints != "" {
		t.Fatalf("%v ended with %d: %s", args, code, complaints)
	}
	return out
}

// signed is one kind of value that a ring makes and checks.
type signed struct {
	ring    string
	refused error // what an invalid value is refused with
	mint    func(keyring.Set, time.Time) (any, error)
	check   func(keyring.Set, any, time.Time) error
}

// of is a kind of values V that a codec C makes and checks.
func of[C, V any](
	ring string,
	refused error,
	open func(keyring.Set) (C, error),
	mint func(C, time.Time) (V, error),
	check func(C, V, time.Time) error,
) signed {
	return signed{
		ring:    ring,
		refused: refused,
		mint: func(s keyring.Set, now time.Time) (any, error) {
			c, err := open(s)
			if err != nil {
				return nil, err
			}
			return mint(c, now)
		},
		check: func(s keyring.Set, v any, now time.Time) error {
			c, err := open(s)
			if err != nil {
				return err
			}
			return check(c, v.(V), now)
		},
	}
}

var (
	workspace = id.NewWorkspace()
	artifact  = id.NewArtifact()
	public    = id.NewPublic()
	nextYear  = began.AddDate(1, 0, 0)
	errOther  = errors.New("does not match")
)

// everything has one of each kind that the rings make.
var everything = map[string]signed{
	"a content token":           signedURL(token.Content, "https://content.example"),
	"an agent-view token":       signedURL(token.AgentView, "https://api.example"),
	"a link":                    linkBlob(),
	"the hash of an API key":    hashed(credential.APIKey),
	"the hash of a claim token": hashed(credential.ClaimToken),
	"a code that people type":   typedCode(),
	"a cursor":                  listCursor(),
	"a sealed record":           sealedRecord(),
	"an assertion":              identityAssertion(),
}

func signedURL(kind token.Kind, host string) signed {
	claims := token.Claims{
		Expires:   nextYear,
		Workspace: workspace,
		Artifact:  artifact,
		Revision:  id.NewRevision(),
	}
	return of("content", token.ErrInvalid,
		func(s keyring.Set) (*token.Codec, error) { return token.New(s.Content, kind, host) },
		func(c *token.Codec, _ time.Time) (string, error) { return c.Mint(claims) },
		func(c *token.Codec, text string, now time.Time) error {
			_, err := c.Parse(text, now)
			return err
		})
}

func linkBlob() signed {
	blob := token.Blob{
		Expires:   nextYear,
		Scopes:    token.View,
		Workspace: workspace,
		Artifact:  artifact,
	}
	return of("links", token.ErrBlob,
		func(s keyring.Set) (*token.LinkCodec, error) {
			return token.NewLinkCodec(s.Links, "https://app.example")
		},
		func(c *token.LinkCodec, _ time.Time) (string, error) { return c.Mint(public, blob) },
		func(c *token.LinkCodec, text string, now time.Time) error {
			_, err := c.Parse(public, text, now)
			return err
		})
}

// hashed is the stored form of a credential; the secret itself never changes.
func hashed(kind credential.Kind) signed {
	secret := credential.Mint(kind, credential.Preview, workspace, "")
	return peppered(secret.Hash, secret.Matches)
}

func typedCode() signed {
	const code = "ABCD-EFGH"
	return peppered(func(peppers keyring.Derived) credential.Hash {
		return credential.HashCode(peppers, "claim", public, code)
	}, func(h credential.Hash, peppers keyring.Derived) bool {
		return credential.MatchesCode(h, peppers, "claim", public, code)
	})
}

// peppered is a hash that one of the peppers went into.
func peppered(hash func(keyring.Derived) credential.Hash, matches func(credential.Hash, keyring.Derived) bool) signed {
	return of("pepper", errOther,
		func(s keyring.Set) (keyring.Derived, error) { return s.Pepper.Derive("credential") },
		func(peppers keyring.Derived, _ time.Time) (credential.Hash, error) { return hash(peppers), nil },
		func(peppers keyring.Derived, h credential.Hash, _ time.Time) error {
			if !matches(h, peppers) {
				return errOther
			}
			return nil
		})
}

func listCursor() signed {
	list := func(now time.Time) cursor.List { return cursor.List{Workspace: workspace, Name: "artifacts", Now: now} }
	return of("seal", errOther,
		func(s keyring.Set) (*cursor.Codec, error) { return cursor.New(s.Seal) },
		func(c *cursor.Codec, _ time.Time) (string, error) {
			return c.Seal(list(nextYear), cursor.Position{At: began, ID: string(artifact)})
		},
		func(c *cursor.Codec, text string, now time.Time) error {
			if _, err := c.Open(list(now), text); err != nil {
				return errOther
			}
			return nil
		})
}

func sealedRecord() signed {
	return of("seal", seal.ErrBroken,
		func(s keyring.Set) (*seal.Box, error) { return seal.New(s.Seal, "record") },
		func(b *seal.Box, _ time.Time) ([]byte, error) { return b.Seal([]byte("a secret"), "record one") },
		func(b *seal.Box, sealed []byte, _ time.Time) error {
			_, err := b.Open(sealed, "record one")
			return err
		})
}

func identityAssertion() signed {
	claims := assertion.Claims{
		Registration: id.RegistrationOf(public),
		Type:         contract.AnonymousType,
		Phase:        assertion.PreClaim,
		Scopes:       []string{"publish"},
		Workspace:    workspace,
		ExpiresAt:    nextYear,
	}
	return of("assertion", assertion.ErrInvalid,
		func(s keyring.Set) (*assertion.Signer, error) {
			return assertion.New(s.Assertion, "https://api.example")
		},
		func(s *assertion.Signer, now time.Time) (string, error) {
			issued := claims
			issued.IssuedAt = now
			return s.Sign(issued)
		},
		func(s *assertion.Signer, text string, now time.Time) error {
			_, err := s.Verify(text, now)
			return err
		})
}

func TestT80WhatAKeySignedHoldsUntilTheKeyIsDropped(t *testing.T) {
	drilled := map[string]bool{}
	for name, s := range everything {
		drilled[s.ring] = true
		t.Run(name, func(t *testing.T) {
			d := newEnv(t)
			first := d.set(t)
			mint := func(set keyring.Set) any {
				t.Helper()
				made, err := s.mint(set, d.now)
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			wants := func(when string, set keyring.Set, made any, want error) {
				t.Helper()
				if err := s.check(set, made, d.now); !errors.Is(err, want) {
					t.Errorf("%s: got %v, want %v", when, err, want)
				}
			}
			under1 := mint(first)

			d.take(t, "stage", s.ring)
			staged := d.set(t)
			wants("after the stage", staged, under1, nil)
			wants("what is made while the next key is staged, where it is not known", first, mint(staged), nil)

			d.now = d.now.Add(keyring.StageAge)
			d.take(t, "flip", s.ring)
			flipped := d.set(t)
			wants("after the flip", flipped, under1, nil)
			under2 := mint(flipped)
			wants("the new one, where the key is staged only", staged, under2, nil)
			wants("the new one, where the key is not known", first, under2, s.refused)
			wants("the new one after the flip", flipped, under2, nil)

			if drain := keyring.Drain(s.ring); drain > 0 {
				d.now = d.now.Add(drain)
				d.take(t, "drop", s.ring)
			} else {
				d.now = d.now.Add(time.Hour)
				d.take(t, "drop", s.ring, "--confirm-unused")
			}
			dropped := d.set(t)
			wants("after the drop", dropped, under1, s.refused)
			wants("the new one after the drop", dropped, under2, nil)
		})
	}
	for _, name := range keyring.Names() {
		if !drilled[name] {
			t.Errorf("nothing that ring %s makes is drilled", name)
		}
	}
}
