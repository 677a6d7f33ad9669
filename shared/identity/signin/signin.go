// Package signin lets people sign in through an identity provider: from a page of ours to the provider and back, in one
// browser, once.
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

// Transaction is what one sign-in sends to the provider and holds its answer against. Nonce and Verifier follow from the
// secret in the browser's cookie, so that the store holds nothing that completes a sign-in.
type Transaction struct {
	State    string // comes back with the browser
	Nonce    string // comes back in the ID token
	Verifier string // of PKCE
}

// Provider is the identity provider. Its failures are those that Refused, Unverified and Unreachable make.
type Provider interface {
	// Begin is the URL where a person signs in.
	Begin(ctx context.Context, t Transaction) (url string, err error)
	// Finish redeems the code that came back and checks who the provider vouches for; t.Nonce must be in the ID token.
	Finish(ctx context.Context, code string, t Transaction) (member.Identity, error)
	// Verify checks an ID token for our client that somebody else got, not older than limits.ProviderTokenLife.
	Verify(ctx context.Context, idToken string) (member.Identity, error)
	// SignOut is the URL where a person signs out of the provider too; empty if it has none, or cannot be asked.
	SignOut() string
}

// ErrUnverified says that the provider vouches for the person but not for an e-mail address.
var ErrUnverified = errors.New("the e-mail address is not verified")

// Unverified refuses a person whose address the provider did not verify; it is ErrUnverified.
func Unverified() error {
	return fault.Wrap(fault.Forbidden, ErrUnverified, "verify your e-mail address at the sign-in provider, then sign in again")
}

// Refused is the one answer to everything that is wrong with a sign-in or an ID token; the cause is for the log and holds
// no secret.
func Refused(cause error) error {
	return fault.Wrap(fault.InvalidRequest, cause, "this sign-in cannot be completed; start it again")
}

// Unreachable says that nothing can be said because the provider does not answer.
func Unreachable(cause error) error {
	return fault.Wrap(fault.DatabaseUnavailable, cause, "the sign-in provider does not answer; try again in a moment").After(retryAfter)
}

const (
	retryAfter  = 30 * time.Second
	secretBytes = 32
)

// Hash is SHA-256 of the secret in the browser's cookie.
type Hash [sha256.Size]byte

// Attempt is a sign-in under way, as it is stored.
type Attempt struct {
	State     string // stored by its hash
	Browser   Hash
	ReturnTo  string
	ExpiresAt time.Time
}

// begin makes an attempt with fresh secrets; cookie is for the browser alone.
func begin(returnTo string, now time.Time) (a Attempt, cookie string) {
	cookie = random()
	return Attempt{
		State:     random(),
		Browser:   sha256.Sum256([]byte(cookie)),
		ReturnTo:  returnTo,
		ExpiresAt: now.Add(limits.SignInLife),
	}, cookie
}

// transaction is what a browser's cookie makes of a state.
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

// secret tells whether a text has the form of one of ours.
func secret(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == secretBytes && len(s) == base64.RawURLEncoding.EncodedLen(secretBytes)
}
