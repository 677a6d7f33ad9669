// Package signin signs people in through an identity provider with the authorization code flow of OpenID Connect, once
// for each flow and only in the browser where it began.
package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"vitrine/shared/identity/member"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Transaction holds the values that tie the provider's answer to one sign-in. Nonce and Verifier derive from the
// secret in the browser's cookie, so that the content of the store alone cannot complete a sign-in.
type Transaction struct {
	State    string // returned by the browser
	Nonce    string // returned in the ID token
	Verifier string // of PKCE
	Fresh    bool   // the provider asks the person to authenticate anew, even if it knows the browser
}

// Provider is the identity provider. Its failures are the errors that Refused, Unverified and Unreachable return.
type Provider interface {
	// Begin returns the URL where a person signs in.
	Begin(ctx context.Context, t Transaction) (url string, err error)
	// Finish redeems the returned code and checks the ID token, which must contain t.Nonce.
	Finish(ctx context.Context, code string, t Transaction) (member.Identity, error)
	// Verify checks an ID token that the provider issued to our client outside of a sign-in here. It refuses one that is
	// older than limits.ProviderTokenLife.
	Verify(ctx context.Context, idToken string) (member.Identity, error)
	// SignOut returns the URL where a person signs out of the provider too. It is empty if the provider has none or does
	// not answer.
	SignOut() string
}

// ErrUnverified reports that the provider has not verified the person's e-mail address.
var ErrUnverified = errors.New("the e-mail address is not verified")

// Unverified returns the error for an unverified e-mail address. It wraps ErrUnverified.
func Unverified() error {
	return fault.Wrap(fault.Forbidden, ErrUnverified,
		"verify your e-mail address at the sign-in provider, then sign in again")
}

// Refused returns the error for every invalid sign-in or ID token. All look alike to the caller. The cause is for the
// log and contains no secret.
func Refused(cause error) error {
	return fault.Wrap(fault.InvalidRequest, cause, "this sign-in cannot be completed; start it again")
}

// Unreachable returns the error for a provider that does not answer.
func Unreachable(cause error) error {
	return fault.Wrap(fault.DatabaseUnavailable, cause,
		"the sign-in provider does not answer; try again in a moment").After(retryAfter)
}

const (
	retryAfter  = 30 * time.Second
	secretBytes = 32
)

// Hash is the SHA-256 of the secret in the browser's cookie.
type Hash [sha256.Size]byte

// Attempt is a pending sign-in, as it is stored.
type Attempt struct {
	State     string // stored as its hash
	Browser   Hash
	ReturnTo  string
	ExpiresAt time.Time
}

// begin creates an attempt with fresh secrets. cookie is for the browser alone and is not stored.
func begin(returnTo string, now time.Time) (a Attempt, cookie string) {
	cookie = random()
	return Attempt{
		State:     random(),
		Browser:   sha256.Sum256([]byte(cookie)),
		ReturnTo:  returnTo,
		ExpiresAt: now.Add(limits.SignInLife),
	}, cookie
}

// transaction derives the values of a sign-in from its state and the browser's cookie.
func transaction(state, cookie string) Transaction {
	return Transaction{State: state, Nonce: derive(cookie, "nonce", state), Verifier: derive(cookie, "verifier", state)}
}

func derive(cookie, use, state string) string {
	m := hmac.New(sha256.New, []byte(cookie))
	m.Write([]byte("signin\x00" + use + "\x00" + state))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func random() string {
	var raw [secretBytes]byte
	rand.Read(raw[:])
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// secret reports whether s has the form of a state or cookie.
func secret(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == secretBytes && len(s) == base64.RawURLEncoding.EncodedLen(secretBytes)
}
