package boot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"vitrine/shared/address"
	"vitrine/shared/credential"
	"vitrine/shared/dynamo"
	"vitrine/shared/limits"
	"vitrine/shared/setting"
	"vitrine/shared/web"
)

// FromEnvironment reads the configuration of a function: the settings that shared/setting names, and the key rings that
// are named among them. Needs are the rings without which the host cannot serve. Everything that is missing or wrong comes
// in one error. Region and credentials are those that Lambda gives to a function; the SDK's own search for others would
// be a tenth of each binary.
func FromEnvironment(ctx context.Context, getenv func(string) string, needs ...string) (Config, error) {
	c := Config{
		Environment: credential.Environment(getenv(setting.Environment)),
		Origins: address.Origins{
			API: getenv(setting.APIURL), Upload: getenv(setting.UploadURL), Content: getenv(setting.ContentURL), App: getenv(setting.AppURL),
			MCP: getenv(setting.MCPURL),
		},
		Tables:           dynamo.Tables{Core: getenv(setting.CoreTable), Events: getenv(setting.EventsTable), Hot: getenv(setting.HotTable)},
		Bucket:           getenv(setting.Bucket),
		DynamoDBEndpoint: getenv(setting.DynamoDBEndpoint), S3Endpoint: getenv(setting.S3Endpoint), S3Domain: getenv(setting.S3Domain),
		OIDC: oidcFrom(getenv), Limits: limits.Default(), Now: time.Now,
	}
	var wrong []error
	choose := func(name string, set func(value string) bool) {
		if v := getenv(name); v != "" && !set(v) {
			wrong = append(wrong, fmt.Errorf("%s cannot be %q", name, v))
		}
	}
	choose(setting.PutMode, func(v string) bool { c.DirectPut = v == "direct"; return v == "direct" || v == "edge" })
	choose(setting.Limits, func(v string) bool { c.Limits.Off = v == "off"; return v == "on" || v == "off" })
	choose(setting.ResponseMode, func(v string) bool { c.ResponseMode = v; return v == "stream" || v == "buffered" })
	choose(setting.HSTS, func(v string) bool { c.HSTS = web.HSTS(v); return c.HSTS.Valid() })
	for _, name := range append([]string{setting.Region, setting.AccessKeyID, setting.SecretAccessKey}, needs...) {
		if getenv(name) == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", name))
		}
	}
	choose(setting.Pow, func(v string) bool {
		c.Limits.Pow = limits.Pow(v)
		return slices.Contains([]limits.Pow{limits.PowAdaptive, limits.PowAlways, limits.PowOff}, c.Limits.Pow)
	})
	if c.S3Endpoint != "" && c.S3Domain == "" {
		wrong = append(wrong, fmt.Errorf("%s needs %s", setting.S3Endpoint, setting.S3Domain))
	}
	if err := errors.Join(append(wrong, c.check())...); err != nil {
		return Config{}, err
	}
	c.AWS = aws.Config{
		Region:      getenv(setting.Region),
		Credentials: credentials.NewStaticCredentialsProvider(getenv(setting.AccessKeyID), getenv(setting.SecretAccessKey), getenv(setting.SessionToken)),
	}
	var secret error
	var fetched sync.WaitGroup
	fetched.Go(func() { c.OIDC.ClientSecret, secret = clientSecret(ctx, c.AWS, getenv(setting.OIDCClientSecret)) })
	rings, err := namedRings(ctx, c.AWS, getenv)
	fetched.Wait()
	c.Rings = rings
	return c, errors.Join(err, secret)
}
