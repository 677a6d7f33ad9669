// Package assembly turns the configuration of a deployment into AWS clients, stores and services; nothing else does.
package assembly

import (
	"errors"
	"fmt"
	"net/url"
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
)

// Config is everything that a deployment is told. It is read once; what is missing stops the start.
type Config struct {
	Environment credential.Environment
	Origins     address.Origins
	Tables      dynamo.Tables
	Bucket      string
	Rings       keyring.Set // those that the hosts need; Derive refuses an empty one
	OIDC        OIDC        // of the hosts where people come in
	// AgentRegistration says that agents can register at the api, on hosts that do not hold the ring Assertion.
	AgentRegistration bool
	// AgentProviders says that they can also register by a provider, on hosts that do not hold Providers.
	AgentProviders bool
	// Providers are the identity providers of agents that are trusted. ProvidersError is why the list of them cannot be
	// used, with which none is trusted; nil: it can.
	Providers      []provider.Provider
	ProvidersError error
	// Billing is where plans are bought. BillingError is why that cannot be used, so that no plan can be bought; nil: it
	// can.
	Billing      Billing
	BillingError error
	// FetchOrigins are the origins that may break the rules of reading documents of OAuth clients and keys of agents'
	// providers; none in production.
	FetchOrigins []string
	// NoClientDocuments leaves documents of OAuth clients out of the metadata, where they cannot be fetched.
	NoClientDocuments bool
	AWS               aws.Config
	// DynamoDBEndpoint is the URL of an engine that is not AWS; empty: AWS.
	DynamoDBEndpoint string
	// S3Endpoint is the URL of an engine that is not AWS, and S3Domain the host and port that it answers to host-style,
	// {bucket}.{domain}; empty: AWS.
	S3Endpoint, S3Domain string
	// DirectPut hands out S3's own URLs instead of ones on the upload host.
	DirectPut bool
	// ResponseMode is how the gateway of a function takes its answers.
	ResponseMode string
	// Root is the folder that holds node_modules with the programs that pages run; empty: those pages do without.
	Root string
	// HSTS is for which names the hosts tell browsers to use HTTPS only.
	HSTS   web.HSTS
	Limits limits.Limits
	Now    func() time.Time
	// Middleware joins the AWS clients' stacks; fault tests use it.
	Middleware []func(*middleware.Stack) error
}

// check names everything that is missing or wrong, in one error.
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
	return errors.Join(append(wrong, c.checkOIDC(), c.checkFetchOrigins())...)
}

// checkFetchOrigins refuses what is no origin, and any exemption in production, because it would open inner addresses
// to strangers.
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
