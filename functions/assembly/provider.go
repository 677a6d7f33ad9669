package assembly

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"vitrine/shared/adapter/oidc"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
)

// The paths of the app host that the identity provider sends browsers to.
const (
	CallbackPath  = "/api/auth/callback"
	SignedOutPath = "/"
)

// OIDC describes the identity provider of people. With the zero value there is no sign-in.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret string // empty: a public client
	Scopes       []string
	Logout       oidc.Logout
	// EmailVerified is how addresses are verified: "issuer", or by the claim if it is "claim" or empty.
	EmailVerified string
	// OperatorClaim and OperatorValue mark operators. If they are empty, members of Cognito's group "operators" are.
	OperatorClaim, OperatorValue string
}

// oidc returns the provider's configuration. Only previews allow a provider on this machine, which may do without TLS,
// because it signs in any person.
func (c *Config) oidc() oidc.Config {
	o := c.OIDC
	return oidc.Config{
		Issuer:        o.Issuer,
		ClientID:      o.ClientID,
		ClientSecret:  o.ClientSecret,
		Scopes:        o.Scopes,
		Logout:        o.Logout,
		EmailVerified: o.EmailVerified == byIssuer,
		OperatorClaim: cmp.Or(o.OperatorClaim, "cognito:groups"),
		OperatorValue: cmp.Or(o.OperatorValue, "operators"),
		Callback:      c.Origins.App + CallbackPath,
		SignedOut:     c.Origins.App + SignedOutPath,
		Loopback:      c.Environment == credential.Preview,
		Now:           c.Now,
	}
}

// byIssuer is the value of the setting env.OIDCEmailVerified with which the issuer vouches for all addresses.
const byIssuer = "issuer"

func (c *Config) checkOIDC() error {
	if v := c.OIDC.EmailVerified; v != "" && v != "claim" && v != byIssuer {
		return fmt.Errorf("%s is %q, not claim or %s", env.OIDCEmailVerified, v, byIssuer)
	}
	if c.OIDC.Issuer == "" {
		if c.OIDC.ClientID != "" || c.OIDC.ClientSecret != "" {
			return fmt.Errorf("%s needs %s", env.OIDCClientID, env.OIDCIssuer)
		}
		return nil
	}
	if err := c.oidc().Check(); err != nil {
		return fmt.Errorf("%s, %s: %w", env.OIDCIssuer, env.OIDCClientID, err)
	}
	return nil
}

// oidcFrom reads the settings of the provider except for the secret.
func oidcFrom(getenv func(string) string) OIDC {
	return OIDC{
		Issuer:        getenv(env.OIDCIssuer),
		ClientID:      getenv(env.OIDCClientID),
		Scopes:        strings.Fields(getenv(env.OIDCScopes)),
		Logout:        oidc.Logout(getenv(env.OIDCLogout)),
		EmailVerified: getenv(env.OIDCEmailVerified),
		OperatorClaim: getenv(env.OIDCOperatorClaim),
		OperatorValue: getenv(env.OIDCOperatorValue),
	}
}

// clientSecret reads the client's secret from where the setting points; empty if there is none.
func clientSecret(ctx context.Context, cfg aws.Config, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	return trimmedSecret(ctx, cfg, env.OIDCClientSecret, from)
}

// secretText reads a secret from a file if the setting has the prefix for files. Otherwise the setting is the ARN of
// the secret.
func secretText(ctx context.Context, cfg aws.Config, from string) (string, error) {
	if file, ok := strings.CutPrefix(from, fileRing); ok {
		data, err := os.ReadFile(file)
		return string(data), err
	}
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &from})
	if err != nil {
		return "", fmt.Errorf("the secret cannot be read: %w", err)
	}
	return aws.ToString(out.SecretString), nil
}
