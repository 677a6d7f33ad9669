package main

import (
	"encoding/json"
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
func (e *env) set(t *testing.T) keyring.Set {
	t.Helper()
	set, err := assembly.LocalRings(e.file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// run takes one step; it fails the test if a key is printed.
func (e *env) run(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	var o, c strings.Builder
	code = run(t.Context(), append(args, "--file", e.file),
		tool{out: &o, complaints: &c, now: func() time.Time { return e.now }})
	set := e.set(t)
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
func (e *env) take(t *testing.T, args ...string) string {
	t.Helper()
	code, out, complaints := e.run(t, args...)
	if code != 0 || complaints != "" {
		t.Fatalf("%v ended with %d: %s", args, code, complaints)
	}
	return out
}

// signer makes values by a ring, and returns an error for one that another ring made.
type signer struct {
	mint  func(now time.Time) (string, error)
	check func(text string, now time.Time) error
}

var (
	workspace = id.NewWorkspace()
	artifact  = id.NewArtifact()
	public    = id.NewPublic()
	nextYear  = began.AddDate(1, 0, 0)
)

// signers are one kind of each ring: what it opens on the rings of a process.
var signers = map[string]func(keyring.Set) (signer, error){
	"content": func(s keyring.Set) (signer, error) {
		c, err := token.New(s.Content, token.Content, "https://content.example")
		claims := token.Claims{Expires: nextYear, Workspace: workspace, Artifact: artifact, Revision: id.NewRevision()}
		return signer{
			func(time.Time) (string, error) { return c.Mint(claims) },
			func(text string, now time.Time) error { _, err := c.Parse(text, now); return err },
		}, err
	},
	"links": func(s keyring.Set) (signer, error) {
		c, err := token.NewLinkCodec(s.Links, "https://app.example")
		blob := token.Blob{Expires: nextYear, Scopes: token.View, Workspace: workspace, Artifact: artifact}
		return signer{
			func(time.Time) (string, error) { return c.Mint(public, blob) },
			func(text string, now time.Time) error { _, err := c.Parse(public, text, now); return err },
		}, err
	},
	"pepper": func(s keyring.Set) (signer, error) {
		const code = "ABCD-EFGH"
		peppers, err := s.Pepper.Derive("credential")
		return signer{
			func(time.Time) (string, error) {
				text, err := json.Marshal(credential.HashCode(peppers, "claim", public, code))
				return string(text), err
			},
			func(text string, _ time.Time) error {
				var h credential.Hash
				err := json.Unmarshal([]byte(text), &h)
				if err == nil && !credential.MatchesCode(h, peppers, "claim", public, code) {
					err = errors.New("does not match")
				}
				return err
			},
		}, err
	},
	"seal": func(s keyring.Set) (signer, error) {
		b, err := seal.New(s.Seal, "record")
		return signer{
			func(time.Time) (string, error) {
				sealed, err := b.Seal([]byte("a secret"), "record one")
				return string(sealed), err
			},
			func(text string, _ time.Time) error { _, err := b.Open([]byte(text), "record one"); return err },
		}, err
	},
	"assertion": func(s keyring.Set) (signer, error) {
		a, err := assertion.New(s.Assertion, "https://api.example")
		claims := assertion.Claims{
			Registration: id.RegistrationOf(public),
			Type:         contract.AnonymousType,
			Phase:        assertion.PreClaim,
			Scopes:       []string{"publish"},
			Workspace:    workspace,
			ExpiresAt:    nextYear,
		}
		return signer{
			func(now time.Time) (string, error) {
				claims.IssuedAt = now
				return a.Sign(claims)
			},
			func(text string, now time.Time) error { _, err := a.Verify(text, now); return err },
		}, err
	},
}

// TestT80WhatAKeySignedHoldsUntilTheKeyIsDropped takes the steps on each ring, with processes that read it before,
// between and after them.
func TestT80WhatAKeySignedHoldsUntilTheKeyIsDropped(t *testing.T) {
	for _, ring := range keyring.Names() {
		t.Run(ring, func(t *testing.T) {
			d := newEnv(t)
			open := func() signer {
				t.Helper()
				s, err := signers[ring](d.set(t))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			mint := func(s signer) string {
				t.Helper()
				text, err := s.mint(d.now)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
			wants := func(when string, s signer, made string, holds bool) {
				t.Helper()
				if err := s.check(made, d.now); (err == nil) != holds {
					t.Errorf("%s: got %v, want it to hold: %t", when, err, holds)
				}
			}
			first := open()
			under1 := mint(first)
			d.take(t, "stage", ring)
			staged := open()
			wants("after the stage", staged, under1, true)
			wants("what is made while the next key is staged, where it is not known", first, mint(staged), true)

			d.now = d.now.Add(keyring.StageAge)
			d.take(t, "flip", ring)
			flipped := open()
			under2 := mint(flipped)
			wants("after the flip", flipped, under1, true)
			wants("the new one, where the key is staged only", staged, under2, true)
			wants("the new one, where the key is not known", first, under2, false)
			wants("the new one after the flip", flipped, under2, true)

			if drain := keyring.Drain(ring); drain > 0 {
				d.now = d.now.Add(drain)
				d.take(t, "drop", ring)
			} else {
				d.now = d.now.Add(time.Hour)
				d.take(t, "drop", ring, "--confirm-unused")
			}
			dropped := open()
			wants("after the drop", dropped, under1, false)
			wants("the new one after the drop", dropped, under2, true)
		})
	}
}
