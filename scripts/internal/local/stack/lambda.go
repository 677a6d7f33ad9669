package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"vitrine/scripts/internal/localapi"
	"vitrine/scripts/internal/localapi/template"
	"vitrine/scripts/local/engines"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// How many requests of one host run at once in processes of their own, and how many more may wait.
const (
	processes = 16 // twice the large bodies that one address may hold
	waiting   = 100
)

// ErrInProcess refuses an option that cannot reach functions in processes of their own.
var ErrInProcess = errors.New("only hosts in this process can have it")

// inProcess returns ErrInProcess for an option that functions cannot get.
func (o Options) inProcess() error {
	told := o.Limits
	standard := limits.Default()
	told.Off, told.Pow = standard.Off, standard.Pow
	if reflect.DeepEqual(told.Tiers, policy.Default(false).Tiers) {
		told.Tiers = standard.Tiers
	}
	told.Cache, told.Bundles = standard.Cache, standard.Bundles
	switch {
	case o.Now != nil && reflect.ValueOf(o.Now).Pointer() != reflect.ValueOf(time.Now).Pointer():
		return fmt.Errorf("option Now: %w", ErrInProcess)
	case o.Billing.On():
		return fmt.Errorf("option Billing: %w", ErrInProcess)
	case len(o.Middleware) > 0:
		return fmt.Errorf("option Middleware: %w", ErrInProcess)
	case !reflect.DeepEqual(told, standard):
		return fmt.Errorf("option Limits, other than Off, Pow, Cache and Bundles: %w", ErrInProcess)
	}
	return nil
}

// openLambda puts the functions behind their gateways, after making what a deployment would have:
// tables, provision quota and rings.
func (s *Stack) openLambda(ctx context.Context, o Options) (handlers [hostCount]http.Handler, err error) {
	if err := o.inProcess(); err != nil {
		return handlers, err
	}
	if o.Output == nil {
		o.Output = io.Discard
	}
	file, err := filepath.Abs(filepath.Join(o.Data, "rings.json"))
	if err != nil {
		return handlers, err
	}
	c, err := functions(ctx, o)
	if err != nil {
		return handlers, err
	}
	if _, err := s.services(ctx, o, file); err != nil {
		return handlers, err
	}
	c.Settings = Settings(o, s.Origins, file)
	if s.Origins.Own != "" { // the templates of no deployment with a wildcard name are made here
		c.Given[env.ContentOrigins], c.Given[env.ContentDomain] = "wildcard", ownDomain
	}
	if s.functions, err = localapi.Open(c); err != nil {
		return handlers, err
	}
	for host, name := range hostNames {
		if handlers[host], err = s.functions.Handler(name); err != nil {
			return handlers, err
		}
	}
	handlers[uploadHost] = withEdge(o, handlers[uploadHost])
	own, err := s.functions.Own(hostNames[contentHost])
	handlers[contentHost] = s.withOwn(handlers[contentHost], own)
	return handlers, err
}

// functions returns the templates and the programs, made where they are missing or old.
func functions(ctx context.Context, o Options) (c localapi.Config, err error) {
	if runtime.GOOS != "linux" {
		return c, fmt.Errorf("functions for Lambda are Linux programs and do not run on %s: leave --lambda away",
			runtime.GOOS)
	}
	sources := localapi.Sources{Root: o.root, Log: o.Output}
	folder, err := sources.Templates(ctx)
	if err != nil {
		return c, err
	}
	c = localapi.Config{
		Processes: processes,
		Waiting:   waiting,
		Output:    o.Output,
		Log:       o.Log,
		Given:     Given(o.Engines, o.root),
	}
	if c.Deployment, err = template.Read(folder); err != nil {
		return c, err
	}
	c.Program, err = sources.Programs(ctx)
	return c, err
}

// Given is what Lambda sets for every function: region, credentials, and where its files are.
func Given(e *engines.Engines, root string) map[string]string {
	return map[string]string{
		env.Region:          e.Region,
		env.AccessKeyID:     e.AccessKey,
		env.SecretAccessKey: e.SecretKey,
		env.TaskRoot:        root,
	}
}

// Settings returns the resources and addresses of a stack in place of a deployment's, with the rings of a file.
func Settings(o Options, origins address.Origins, rings string) map[string]string {
	either := func(first bool, one, other string) string {
		if first {
			return one
		}
		return other
	}
	rings = "file:" + rings
	tables := dynamo.Named(o.Tables)
	return map[string]string{
		env.Environment:       string(credential.Preview),
		env.APIURL:            origins.API,
		env.UploadURL:         origins.Upload,
		env.ContentURL:        origins.Content,
		env.AppURL:            origins.App,
		env.MCPURL:            origins.MCP,
		env.CoreTable:         tables.Core,
		env.PolicyFile:        o.PolicyFile,
		env.SellsPlans:        env.OnOff(reflect.DeepEqual(o.Limits.Tiers, limits.Default().Tiers)),
		env.EventsTable:       tables.Events,
		env.HotTable:          tables.Hot,
		env.Bucket:            o.Engines.Bucket,
		env.ContentRing:       rings,
		env.LinksRing:         rings,
		env.PepperRing:        rings,
		env.SealRing:          rings,
		env.AssertionRing:     rings,
		env.DynamoDBEndpoint:  o.Engines.DynamoDB,
		env.S3Endpoint:        o.Engines.S3,
		env.S3Domain:          o.Engines.S3Domain,
		env.OIDCIssuer:        o.identity.Issuer,
		env.OIDCClientID:      o.identity.client.ClientID,
		env.OIDCClientSecret:  o.identity.secret,
		env.OIDCLogout:        string(o.identity.client.Logout),
		env.AgentRegistration: either(o.identity.list != "", "providers", "on"),
		env.Providers:         o.identity.list,
		env.ClientDocuments:   env.OnOff(!o.NoClientDocuments),
		env.FetchOrigins:      strings.Join(o.fetchOrigins(o.identity.Issuer), " "),
		env.PutMode:           "edge",
		env.Limits:            env.OnOff(!o.Limits.Off),
		env.Pow:               string(o.Limits.Pow),
		env.Cache:             strconv.FormatInt(o.Limits.Cache, 10),
		env.Bundles:           either(o.Limits.Bundles > 0, strconv.Itoa(int(o.Limits.Bundles/time.Second)), "off"),
	}
}
