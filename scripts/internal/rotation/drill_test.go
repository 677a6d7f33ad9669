package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/shared/boot"
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
	set, err := boot.LocalRings(d.file)
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
	ring string
	mint func(keyring.Set, time.Time) (any, error)
	// check returns nil for a valid value, and the error refused, of the package that checks, for
	// an invalid one.
	check   func(keyring.Set, any, time.Time) error
	refused error
	kid     func(any) byte // returns the id of the key that made it
}

var (
	workspace = id.NewWorkspace()
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
	public := token.Claims{
		Expires:   began.AddDate(1, 0, 0),
		Workspace: workspace,
		Artifact:  id.NewArtifact(),
		Revision:  id.NewRevision(),
	}
	return signed{
		ring:    "content",
		refused: token.ErrInvalid,
		kid:     func(text any) byte { return raw(text)[1] },
		mint: func(s keyring.Set, _ time.Time) (any, error) {
			c, err := token.New(s.Content, kind, host)
			if err != nil {
				return nil, err
			}
			return c.Mint(public)
		},
		check: func(s keyring.Set, text any, now time.Time) error {
			c, err := token.New(s.Content, kind, host)
			if err == nil {
				_, err = c.Parse(text.(string), now)
			}
			return err
		},
	}
}

func linkBlob() signed {
	public := id.NewPublic()
	return signed{
		ring:    "links",
		refused: token.ErrBlob,
		kid:     func(text any) byte { return raw(text)[1] },
		mint: func(s keyring.Set, _ time.Time) (any, error) {
			c, err := token.NewLinkCodec(s.Links, "https://app.example")
			if err != nil {
				return nil, err
			}
			return c.Mint(public, token.Blob{
				Expires:   began.AddDate(1, 0, 0),
				Scopes:    token.View,
				Workspace: workspace,
				Artifact:  id.NewArtifact(),
			})
		},
		check: func(s keyring.Set, text any, now time.Time) error {
			c, err := token.NewLinkCodec(s.Links, "https://app.example")
			if err == nil {
				_, err = c.Parse(public, text.(string), now)
			}
			return err
		},
	}
}

// hashed is the stored form of a credential; the secret itself never changes.
func hashed(kind credential.Kind) signed {
	secret := credential.Mint(kind, credential.Preview, workspace, "")
	return peppered(secret.Hash, secret.Matches)
}

func typedCode() signed {
	const code = "ABCD-EFGH"
	public := id.NewPublic()
	return peppered(func(peppers keyring.Derived) credential.Hash {
		return credential.HashCode(peppers, "claim", public, code)
	}, func(h credential.Hash, peppers keyring.Derived) bool {
		return credential.MatchesCode(h, peppers, "claim", public, code)
	})
}

// peppered is a hash that one of the peppers went into.
func peppered(mint func(keyring.Derived) credential.Hash, matches func(credential.Hash, keyring.Derived) bool) signed {
	return signed{
		ring:    "pepper",
		refused: errOther,
		kid:     func(h any) byte { return h.(credential.Hash).Pepper },
		mint: func(s keyring.Set, _ time.Time) (any, error) {
			peppers, err := s.Pepper.Derive("credential")
			return mint(peppers), err
		},
		check: func(s keyring.Set, h any, _ time.Time) error {
			peppers, err := s.Pepper.Derive("credential")
			if err == nil && !matches(h.(credential.Hash), peppers) {
				err = errOther
			}
			return err
		},
	}
}

func listCursor() signed {
	return signed{
		ring:    "seal",
		refused: errOther,
		kid:     func(text any) byte { return raw(strings.TrimPrefix(text.(string), "v1."))[0] },
		mint: func(s keyring.Set, _ time.Time) (any, error) {
			c, err := cursor.New(s.Seal)
			if err != nil {
				return nil, err
			}
			return c.Seal(cursor.List{
				Workspace: workspace,
				Name:      "artifacts",
				Now:       began.AddDate(1, 0, 0),
			}, cursor.Position{At: began, ID: string(id.NewArtifact())})
		},
		check: func(s keyring.Set, text any, now time.Time) error {
			c, err := cursor.New(s.Seal)
			if err != nil {
				return err
			}
			if _, err := c.Open(cursor.List{Workspace: workspace, Name: "artifacts", Now: now}, text.(string)); err != nil {
				return errOther
			}
			return nil
		},
	}
}

func sealedRecord() signed {
	return signed{
		ring:    "seal",
		refused: seal.ErrBroken,
		kid:     func(sealed any) byte { return sealed.([]byte)[0] },
		mint: func(s keyring.Set, _ time.Time) (any, error) {
			box, err := seal.New(s.Seal, "record")
			if err != nil {
				return nil, err
			}
			return box.Seal([]byte("a secret"), "record one")
		},
		check: func(s keyring.Set, sealed any, _ time.Time) error {
			box, err := seal.New(s.Seal, "record")
			if err == nil {
				_, err = box.Open(sealed.([]byte), "record one")
			}
			return err
		},
	}
}

func identityAssertion() signed {
	const issuer = "https://api.example"
	return signed{
		ring:    "assertion",
		refused: assertion.ErrInvalid,
		kid: func(text any) byte {
			var kid int
			header := string(raw(strings.Split(text.(string), ".")[0]))
			fmt.Sscanf(header[strings.Index(header, `"as`):], `"as%d-`, &kid)
			return byte(kid)
		},
		mint: func(s keyring.Set, now time.Time) (any, error) {
			signer, err := assertion.New(s.Assertion, issuer)
			if err != nil {
				return nil, err
			}
			return signer.Sign(assertion.Claims{
				Registration: id.RegistrationOf(id.NewPublic()),
				Type:         contract.AnonymousType,
				Phase:        assertion.PreClaim,
				Scopes:       []string{"publish"},
				Workspace:    workspace,
				IssuedAt:     now,
				ExpiresAt:    began.AddDate(1, 0, 0),
			})
		},
		check: func(s keyring.Set, text any, now time.Time) error {
			signer, err := assertion.New(s.Assertion, issuer)
			if err == nil {
				_, err = signer.Verify(text.(string), now)
			}
			return err
		},
	}
}

// raw decodes a base64url text.
func raw(text any) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text.(string))
	if err != nil {
		panic(err)
	}
	return b
}

func TestT80WhatAKeySignedHoldsUntilTheKeyIsDropped(t *testing.T) {
	for name, s := range everything {
		t.Run(name, func(t *testing.T) {
			d := newEnv(t)
			first := d.set(t)
			mint := func(set keyring.Set, kid byte) any {
				t.Helper()
				made, err := s.mint(set, d.now)
				if err != nil {
					t.Fatal(err)
				}
				if got := s.kid(made); got != kid {
					t.Errorf("key %d made it, want key %d", got, kid)
				}
				return made
			}
			wants := func(when string, set keyring.Set, made any, want error) {
				t.Helper()
				if err := s.check(set, made, d.now); !errors.Is(err, want) {
					t.Errorf("%s: got %v, want %v", when, err, want)
				}
			}
			under1 := mint(first, 1)

			d.take(t, "stage", s.ring)
			staged := d.set(t)
			wants("after the stage", staged, under1, nil)
			mint(staged, 1) // the next key does not sign

			d.now = d.now.Add(keyring.StageAge)
			d.take(t, "flip", s.ring)
			flipped := d.set(t)
			wants("after the flip", flipped, under1, nil)
			under2 := mint(flipped, 2)
			wants("the new one, where the key is staged only", staged, under2, nil)
			wants("the new one, where the key is not known", first, under2, s.refused)
			wants("after the flip", flipped, under2, nil)

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
}

func TestT80EveryRingIsDrilled(t *testing.T) {
	drilled := map[string]bool{}
	for _, s := range everything {
		drilled[s.ring] = true
	}
	for _, name := range keyring.Names() {
		if !drilled[name] {
			t.Errorf("nothing that ring %s makes is drilled", name)
		}
	}
}
