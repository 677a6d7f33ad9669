package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"runtime"
	"time"

	"vitrine/scripts/local/engine"
	"vitrine/scripts/localapi"
	"vitrine/scripts/localapi/template"
	"vitrine/shared/address"
	"vitrine/shared/boot"
	"vitrine/shared/credential"
	"vitrine/shared/dynamo"
	"vitrine/shared/limits"
	"vitrine/shared/setting"
)

// How many requests of one host run at once in processes of their own, unless Options say so, and how many more may wait.
const (
	processes = 16 // twice the large bodies that one address may hold
	waiting   = 100
)

// ErrInProcess refuses an option that functions in processes of their own cannot be told.
var ErrInProcess = errors.New("only hosts in this process can have it")

// inProcess names an option that functions cannot be told.
func (o Options) inProcess() error {
	told := o.Limits
	standard := limits.Default()
	told.Off, told.Pow = standard.Off, standard.Pow
	switch {
	case o.Now != nil && reflect.ValueOf(o.Now).Pointer() != reflect.ValueOf(time.Now).Pointer():
		return fmt.Errorf("option Now: %w", ErrInProcess)
	case len(o.Middleware) > 0:
		return fmt.Errorf("option Middleware: %w", ErrInProcess)
	case !reflect.DeepEqual(told, standard):
		return fmt.Errorf("option Limits, other than Off and Pow: %w", ErrInProcess)
	}
	return nil
}

// openLambda puts the functions behind their gateways, after making what a deployment would find: tables, gate and rings.
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
	rings, err := boot.LocalRings(file)
	if err != nil {
		return handlers, err
	}
	c, err := functions(ctx, o)
	if err != nil {
		return handlers, err
	}
	services, err := boot.Open(config(o, s.Origins, rings))
	if err != nil {
		return handlers, err
	}
	if err := services.CreateTables(ctx); err != nil {
		return handlers, err
	}
	c.Settings = settings(o, s.Origins, "file:"+file)
	if s.functions, err = localapi.Open(c); err != nil {
		return handlers, err
	}
	for host, name := range hostNames {
		if handlers[host], err = s.functions.Handler(name); err != nil {
			return handlers, err
		}
	}
	handlers[uploadHost] = withEdge(o, handlers[uploadHost])
	return handlers, nil
}

// functions are the templates and the programs, made where they are missing or old.
func functions(ctx context.Context, o Options) (c localapi.Config, err error) {
	if runtime.GOOS != "linux" {
		return c, fmt.Errorf("Lambda functions are Linux programs and do not run on %s: leave --lambda away", runtime.GOOS)
	}
	root, err := engine.Root()
	if err != nil {
		return c, err
	}
	sources := localapi.Sources{Root: root, Log: o.Output}
	folder, err := sources.Templates(ctx)
	if err != nil {
		return c, err
	}
	c = localapi.Config{Processes: cmp.Or(o.Processes, processes), Waiting: waiting, Output: o.Output, Log: o.Log, Given: map[string]string{
		setting.Region: o.Engines.Region, setting.AccessKeyID: o.Engines.AccessKey, setting.SecretAccessKey: o.Engines.SecretKey,
	}}
	if c.Deployment, err = template.Read(folder); err != nil {
		return c, err
	}
	c.Program, err = sources.Programs(ctx)
	return c, err
}

// settings are what this stack has instead of a deployment's resources and addresses.
func settings(o Options, origins address.Origins, rings string) map[string]string {
	rates := "on"
	if o.Limits.Off {
		rates = "off"
	}
	tables := dynamo.Named(o.Tables)
	return map[string]string{
		setting.Environment: string(credential.Preview), setting.APIURL: origins.API, setting.UploadURL: origins.Upload,
		setting.ContentURL: origins.Content, setting.AppURL: origins.App,
		setting.MCPURL:    origins.MCP, // empty as well, because that of a template must not count
		setting.CoreTable: tables.Core, setting.EventsTable: tables.Events, setting.HotTable: tables.Hot, setting.Bucket: o.Engines.Bucket,
		setting.ContentRing: rings, setting.LinksRing: rings, setting.PepperRing: rings, setting.SealRing: rings, setting.AssertionRing: rings,
		setting.DynamoDBEndpoint: o.Engines.DynamoDB, setting.S3Endpoint: o.Engines.S3, setting.S3Domain: o.Engines.S3Domain,
		setting.OIDCIssuer: o.identity.Issuer, setting.OIDCClientID: o.identity.client.ClientID, setting.OIDCClientSecret: "file:" + o.identity.secretFile,
		setting.OIDCLogout: string(o.identity.client.Logout),
		setting.PutMode:    "edge", setting.Limits: rates, setting.Pow: string(o.Limits.Pow),
	}
}
