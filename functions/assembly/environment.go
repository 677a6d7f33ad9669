package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

// FromEnvironment reads the configuration of a function: the settings in shared/platform/env, and the key rings and
// secrets that they name. needs are the settings that the host requires. One error names everything that is missing or
// wrong. Region and credentials are the variables that Lambda sets; the SDK's search for others would make up a tenth
// of each binary.
func FromEnvironment(ctx context.Context, getenv func(string) string, needs ...string) (Config, error) {
	c := Config{
		Environment: credential.Environment(getenv(env.Environment)),
		Origins: address.Origins{
			API:     getenv(env.APIURL),
			Upload:  getenv(env.UploadURL),
			Content: getenv(env.ContentURL),
			App:     getenv(env.AppURL),
			MCP:     getenv(env.MCPURL),
		},
		Tables:           dynamo.Tables{Core: getenv(env.CoreTable), Events: getenv(env.EventsTable), Hot: getenv(env.HotTable)},
		Bucket:           getenv(env.Bucket),
		DynamoDBEndpoint: getenv(env.DynamoDBEndpoint),
		S3Endpoint:       getenv(env.S3Endpoint),
		S3Domain:         getenv(env.S3Domain),
		OIDC:             oidcFrom(getenv),
		FetchOrigins:     strings.Fields(getenv(env.FetchOrigins)),
		Billing:          Billing{URL: getenv(env.StripeURL)}, // set early: production refuses it before a secret is read
		Root:             getenv(env.TaskRoot),
		Limits:           limits.Default(),
		Now:              time.Now,
	}
	var wrong []error
	choose := func(name string, set func(value string) bool) {
		if v := getenv(name); v != "" && !set(v) {
			wrong = append(wrong, fmt.Errorf("%s cannot be %q", name, v))
		}
	}
	choose(env.AgentRegistration, func(v string) bool {
		c.AgentProviders = v == "providers"
		c.AgentRegistration = v == "on" || c.AgentProviders
		return c.AgentRegistration || v == "off"
	})
	choose(env.ContentOrigins, func(v string) bool { return c.chooseOrigins(v, getenv(env.ContentDomain)) })
	choose(env.PutMode, func(v string) bool { c.DirectPut = v == "direct"; return v == "direct" || v == "edge" })
	choose(env.ClientDocuments, func(v string) bool { c.NoClientDocuments = v == "off"; return v == "on" || v == "off" })
	wrong = append(wrong, c.ReadPolicy(getenv(env.PolicyFile), getenv(env.SellsPlans) == "on"))
	choose(env.Limits, func(v string) bool { c.Limits.Off = v == "off"; return v == "on" || v == "off" })
	choose(env.Cache, func(v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		c.Limits.Cache = n
		return err == nil && n >= 0
	})
	choose(env.Bundles, func(v string) bool {
		n, err := strconv.Atoi(v)
		c.Limits.Bundles = time.Duration(n) * time.Second
		return v == "off" || err == nil && n > 0 && n <= 3600
	})
	choose(env.ResponseMode, func(v string) bool { c.ResponseMode = v; return v == "stream" || v == "buffered" })
	choose(env.HSTS, func(v string) bool { c.HSTS = web.HSTS(v); return c.HSTS.Valid() })
	for _, name := range append([]string{env.Region, env.AccessKeyID, env.SecretAccessKey}, needs...) {
		if getenv(name) == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", name))
		}
	}
	choose(env.Pow, func(v string) bool {
		c.Limits.Pow = limits.Pow(v)
		return slices.Contains([]limits.Pow{limits.PowAdaptive, limits.PowAlways, limits.PowOff}, c.Limits.Pow)
	})
	if c.S3Endpoint != "" && c.S3Domain == "" {
		wrong = append(wrong, fmt.Errorf("%s needs %s", env.S3Endpoint, env.S3Domain))
	}
	if err := errors.Join(append(wrong, c.check())...); err != nil {
		return Config{}, err
	}
	c.AWS = aws.Config{
		Region:      getenv(env.Region),
		Credentials: credentials.NewStaticCredentialsProvider(getenv(env.AccessKeyID), getenv(env.SecretAccessKey), getenv(env.SessionToken)),
	}
	var secret error
	var fetched sync.WaitGroup
	fetched.Go(func() { c.OIDC.ClientSecret, secret = clientSecret(ctx, c.AWS, getenv(env.OIDCClientSecret)) })
	fetched.Go(func() { c.Billing, c.BillingError = billingFrom(ctx, c.AWS, getenv) })
	fetched.Go(func() { c.Providers, c.ProvidersError = trustList(ctx, c.AWS, getenv(env.Providers), &c) })
	rings, err := namedRings(ctx, c.AWS, getenv)
	fetched.Wait()
	c.Rings = rings
	return c, errors.Join(err, secret)
}
