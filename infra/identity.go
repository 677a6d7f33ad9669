package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vitrine/shared/platform/env"
)

// The kinds of identity provider.
const (
	cognitoIdentity = "cognito" // a user pool in the stack Data
	oidcIdentity    = "oidc"    // any OpenID Connect provider that the context names
	noIdentity      = "none"    // no sign-in: there are ephemeral workspaces only
)

// identity holds the options of sign-in.
type identity struct {
	By string
	// Domain is the custom domain of the pool's pages. Without a name, their address is Prefix below a domain of
	// Amazon's; an empty Prefix is derived from the deployment's name and the account.
	Domain domain
	Prefix string
	Sender string // sender of the pool's e-mail; empty: Cognito's own, which sends few messages a day
	// SenderIdentity is the identity that is verified in SES: the address of the sender, or a domain that it belongs
	// to.
	SenderIdentity string
	// Issuer, ClientID, SecretARN and Logout describe the provider. They come from the context or, for a pool, from the
	// outputs of the stack Data. An empty SecretARN makes the client a public one.
	Issuer, ClientID, SecretARN, Logout string
	// OperatorClaim and OperatorValue mark the operators of the deployment. If they are empty, the operators are those
	// in the pool's group "operators".
	OperatorClaim, OperatorValue string
	// EmailVerified is how the addresses of people are verified: by the claim email_verified, or by the issuer.
	EmailVerified string
}

var (
	prefixShape = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	issuerShape = regexp.MustCompile(`^https://[^/?#@\s]+(/[^?#\s]*)?$`)
	// A secret's ARN ends in six characters that AWS adds. They are required, because rights are granted to the exact
	// ARN.
	secretShape = regexp.MustCompile(`^arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[^\s*?]+-[A-Za-z0-9]{6}$`)
	senderShape = regexp.MustCompile(`^[^@\s<>,]+@[^@\s<>,]+\.[^@\s<>,]+$`)
)

// readIdentity reads and checks the options of sign-in.
func readIdentity(c lookup, o options) (identity, error) {
	i := identity{
		By:            c.text("identity", cognitoIdentity),
		Prefix:        c.text("identity-prefix", ""),
		Issuer:        c.text("oidc-issuer", ""),
		ClientID:      c.text("oidc-client-id", ""),
		SecretARN:     c.text("oidc-client-secret", ""),
		Logout:        c.text("oidc-logout", "none"),
		Sender:        c.text("identity-email-from", ""),
		OperatorClaim: c.text("oidc-operator-claim", ""),
		OperatorValue: c.text("oidc-operator-value", ""),
		EmailVerified: c.text("oidc-email-verified", "claim"),
	}
	switch {
	case !slices.Contains([]string{cognitoIdentity, oidcIdentity, noIdentity}, i.By):
		return i, fmt.Errorf("the context identity is cognito, oidc or none, not %q", i.By)
	case i.By != oidcIdentity &&
		(i.Issuer+i.ClientID+i.SecretARN+i.OperatorClaim+i.OperatorValue != "" || i.EmailVerified != "claim"):
		return i, fmt.Errorf("the context names another provider: set identity to oidc, or leave oidc-* away")
	case i.By != cognitoIdentity && i.Sender != "":
		return i, fmt.Errorf("the context identity-email-from is for the pool, which identity=%s does without", i.By)
	case i.Sender != "" && !senderShape.MatchString(i.Sender):
		return i, fmt.Errorf("the context identity-email-from is an e-mail address, not %q", i.Sender)
	}
	if err := i.readSenderIdentity(c); err != nil {
		return i, err
	}
	switch i.By {
	case oidcIdentity:
		return i, i.checkProvider()
	case noIdentity:
		return i, nil
	}
	return i, i.readAddress(c, o)
}

// readSenderIdentity reads the identity that is verified in SES: the sender's address, unless the context names a
// domain of it.
func (i *identity) readSenderIdentity(c lookup) error {
	i.SenderIdentity = c.text("identity-email-identity", i.Sender)
	_, domain, _ := strings.Cut(i.Sender, "@")
	switch {
	case i.SenderIdentity == i.Sender:
		return nil
	case i.Sender == "":
		return fmt.Errorf("the context identity-email-identity is what an address belongs to: give identity-email-from too")
	}
	i.SenderIdentity = strings.ToLower(i.SenderIdentity) // domains in SES are lower case
	if !strings.HasSuffix("."+strings.ToLower(domain), "."+i.SenderIdentity) {
		return fmt.Errorf(
			"the context identity-email-identity does not cover %s: it is that address, its domain or one above", i.Sender)
	}
	return nil
}

// readAddress reads the address of the pool's sign-in pages.
func (i *identity) readAddress(c lookup, o options) (err error) {
	if name := c.text("domain-identity", ""); name != "" {
		if i.Domain, err = readDomain(c, "identity", name); err == nil && related(i.Domain.Name, o.Domains["content"].Name) {
			err = fmt.Errorf(
				"the content host must not share a name with the sign-in pages, whose cookies it would see: give domain-content " +
					"one of its own")
		}
		return err
	}
	if i.Prefix != "" && !prefixShape.MatchString(i.Prefix) {
		return fmt.Errorf("the context identity-prefix is small letters, digits and hyphens, at most 63, not %q", i.Prefix)
	}
	for _, word := range []string{"aws", "amazon", "cognito"} { // Cognito refuses prefixes with these words
		if strings.Contains(i.Prefix, word) || i.Prefix == "" && strings.Contains(strings.ToLower(o.Name), word) {
			return fmt.Errorf("there is no address with %q in it at Cognito: give the context identity-prefix another one", word)
		}
	}
	return nil
}

func (i identity) checkProvider() error {
	switch {
	case !issuerShape.MatchString(i.Issuer):
		return fmt.Errorf("the context oidc-issuer is an https URL, not %q", i.Issuer)
	case i.ClientID == "":
		return fmt.Errorf("the context lacks oidc-client-id, the name of this deployment's client at %s", i.Issuer)
	case i.SecretARN != "" && !secretShape.MatchString(i.SecretARN):
		return fmt.Errorf("the context oidc-client-secret is the whole ARN of a secret in Secrets Manager, not %q",
			i.SecretARN)
	case !slices.Contains([]string{"none", "rp_initiated", "cognito"}, i.Logout):
		return fmt.Errorf("the context oidc-logout is none, rp_initiated or cognito, not %q", i.Logout)
	case i.EmailVerified != "claim" && i.EmailVerified != "issuer":
		return fmt.Errorf("the context oidc-email-verified is claim or issuer, not %q", i.EmailVerified)
	case (i.OperatorClaim == "") != (i.OperatorValue == ""):
		return fmt.Errorf("oidc-operator-claim and oidc-operator-value say together who operates: give both, or neither")
	}
	return nil
}

// find completes the options of the deployment's own pool from the outputs of the stack Data. Functions get these
// values as they get addresses, through the settings file. References between stacks would keep a deployment from ever
// changing its provider, because CloudFormation refuses to remove an imported output. Sign-in is unavailable until
// scripts/deploy has read the outputs.
func (i *identity) find(data map[string]string) {
	if i.By != cognitoIdentity {
		return
	}
	i.Logout = cognitoIdentity
	if data["Issuer"] != "" && data["ClientId"] != "" && data["ClientSecret"] != "" {
		i.Issuer = data["Issuer"]
		i.ClientID = data["ClientId"]
		i.SecretARN = data["ClientSecret"]
	}
}

// The settings of hosts that only say whether people can sign in, of those that also verify ID tokens, and of those
// that also sign people in.
var (
	describing = []string{env.OIDCIssuer, env.OIDCClientID}
	verifying  = append([]string{env.OIDCOperatorClaim, env.OIDCOperatorValue, env.OIDCEmailVerified}, describing...)
	signingIn  = append([]string{env.OIDCClientSecret, env.OIDCScopes, env.OIDCLogout}, verifying...)
)

const scopes = "openid email profile"

// settings returns the settings of the provider; empty without one.
func (i identity) settings() map[string]string {
	if i.By == noIdentity {
		return map[string]string{}
	}
	return map[string]string{
		env.OIDCIssuer: i.Issuer, env.OIDCClientID: i.ClientID, env.OIDCClientSecret: i.SecretARN, env.OIDCLogout: i.Logout,
		env.OIDCScopes: scopes, env.OIDCOperatorClaim: i.OperatorClaim, env.OIDCOperatorValue: i.OperatorValue,
		env.OIDCEmailVerified: i.EmailVerified,
	}
}
