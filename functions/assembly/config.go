// Package assembly makes AWS clients, stores and services from the configuration of a deployment. No other package
// does.
package assembly

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// Config is the whole configuration of a deployment. It is read once. A missing value stops the start.
type Config struct {
	Environment credential.Environment
	Origins     address.Origins
	Tables      dynamo.Tables
	Bucket      string
	Rings       keyring.Set // the rings that the hosts need; Derive refuses an empty one
	OIDC        OIDC        // set on hosts that sign people in or verify their tokens
	// AgentRegistration says that agents can register at the api. It is for hosts that do not hold the ring Assertion.
	AgentRegistration bool
	// AgentProviders says that agents can also register by a provider. It is for hosts that do not hold Providers.
	AgentProviders bool
	// Providers are the trusted identity providers of agents. ProvidersError says why their list cannot be used; then
	// none is trusted.
	Providers      []provider.Provider
	ProvidersError error
	// Billing is the account at which plans are sold. BillingError says why it cannot be used; then no plan can be
	// bought.
	Billing      Billing
	BillingError error
	// FetchOrigins are exempt from the rules for reading documents of OAuth clients and keys of agents' providers.
	// Production allows none.
	FetchOrigins []string
	// NoClientDocuments removes documents of OAuth clients from the metadata. It is for deployments that cannot fetch
	// them.
	NoClientDocuments bool
	AWS               aws.Config
	// DynamoDBEndpoint is the URL of a local engine; empty: AWS.
	DynamoDBEndpoint string
	// S3Endpoint is the URL of a local engine; empty: AWS. S3Domain is the host and port under which that engine has
	// buckets, as {bucket}.{domain}.
	S3Endpoint, S3Domain string
	// DirectPut makes upload URLs point to S3 instead of the upload host.
	DirectPut bool
	// ResponseMode says how the gateway takes the answers of a function.
	ResponseMode string
	// Root is the folder of node_modules with the programs that pages run. If it is empty, pages do without them.
	Root string
	// HSTS says for which names the hosts tell browsers to use HTTPS only.
	HSTS web.HSTS
	// Policy is what the owner of the deployment decided. Its numbers are in Limits.
	Policy policy.Policy
	Limits limits.Limits
	Now    func() time.Time
	// Middleware is added to the stacks of the AWS clients, for tests of faults.
	Middleware []func(*middleware.Stack) error
}

// check returns one error that names everything missing or wrong.
func (c *Config) check() error {
	var wrong []error
	need := func(name, value string) {
		if value == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", name))
		}
	}
	need(env.CoreTable, c.Tables.Core)
	need(env.EventsTable, c.Tables.Events)
	need(env.HotTable, c.Tables.Hot)
	need(env.Bucket, c.Bucket)
	if c.Environment != credential.Production && c.Environment != credential.Preview {
		wrong = append(wrong, fmt.Errorf("%s is %q, not %s or %s", env.Environment, c.Environment, credential.Production, credential.Preview))
	}
	if c.Environment == credential.Production && c.Limits.Off {
		wrong = append(wrong, errors.New("limits cannot be off in production"))
	}
	if c.Environment == credential.Production && c.Billing.URL != "" {
		wrong = append(wrong, fmt.Errorf("%s is refused in production", env.StripeURL))
	}
	o := c.Origins
	for _, host := range []struct{ name, origin string }{
		{env.APIURL, o.API}, {env.UploadURL, o.Upload}, {env.ContentURL, o.Content}, {env.AppURL, o.App}, {env.MCPURL, o.MCP},
	} {
		if host.name == env.MCPURL && host.origin == "" {
			continue
		}
		if u, err := url.Parse(host.origin); err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http") || u.Path != "" {
			wrong = append(wrong, fmt.Errorf("%s is %q, not an http origin without path", host.name, host.origin))
		}
	}
	return errors.Join(append(wrong, c.checkDomain(), c.checkOIDC(), c.checkFetchOrigins())...)
}

// chooseOrigins sets whether artifacts have origins of their own below a domain. It returns false for an unknown choice.
func (c *Config) chooseOrigins(which, domain string) bool {
	if which == "wildcard" {
		c.Origins.Own = c.Origins.Wildcard(domain)
	}
	return which == "wildcard" || which == "shared"
}

var ownOrigins = regexp.MustCompile(`^https?://\*(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(:[0-9]+)?$`)

// checkDomain refuses a domain below which artifacts can have no origins.
func (c *Config) checkDomain() error {
	_, err := netip.ParseAddr(strings.TrimPrefix(c.Origins.OwnDomain(), "."))
	if c.Origins.Own == "" || ownOrigins.MatchString(c.Origins.Own) && err != nil {
		return nil
	}
	return fmt.Errorf("%s cannot be wildcard: no host names are below %s or the host of %s",
		env.ContentOrigins, env.ContentDomain, env.ContentURL)
}

// checkFetchOrigins refuses malformed origins. In production it refuses every exemption, because one would let
// strangers reach internal addresses.
func (c *Config) checkFetchOrigins() error {
	if c.Environment == credential.Production && len(c.FetchOrigins) > 0 {
		return fmt.Errorf("%s cannot be set in production", env.FetchOrigins)
	}
	var wrong []error
	for _, origin := range c.FetchOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin || u.Scheme != "http" && u.Scheme != "https" {
			wrong = append(wrong, fmt.Errorf("%s holds %q, which is no http origin without path", env.FetchOrigins, origin))
		}
	}
	return errors.Join(wrong...)
}
