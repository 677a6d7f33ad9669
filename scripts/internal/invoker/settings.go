package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/env"
)

// settingsOf returns the settings of a function beside the stack that scripts/dev runs.
func settingsOf(ctx context.Context, r request) (map[string]string, error) {
	for name, port := range map[string]int{engine.EnvDynamoDB: r.base + 11, engine.EnvS3: r.base + 12} {
		if os.Getenv(name) == "" {
			os.Setenv(name, "http://127.0.0.1:"+strconv.Itoa(port))
		}
	}
	engines, err := engine.Start(ctx, engine.Options{}) // those that run already
	if err != nil {
		return nil, fmt.Errorf("no stack answers at -ports %d: start scripts/dev, or name the ports of the one that runs",
			r.base)
	}
	data := r.data
	if data == "" {
		root, err := engine.Root()
		if err != nil {
			return nil, err
		}
		data = filepath.Join(root, ".vitrine")
	}
	rings, err := filepath.Abs(filepath.Join(data, "rings.json"))
	if err == nil {
		_, err = os.Stat(rings) // else the function would make others
	}
	if err != nil {
		return nil, fmt.Errorf("the stack's key rings: %w: name its data folder with -data", err)
	}
	return settings(r, engines, "file:"+rings), nil
}

func settings(r request, e *engine.Engines, rings string) map[string]string {
	url := func(name string, offset int) string { return "http://" + name + ":" + strconv.Itoa(r.base+offset) }
	tables := dynamo.Named("vitrine")
	return map[string]string{
		env.Environment: "preview", env.ResponseMode: r.mode,
		env.APIURL: url("localhost", 1), env.UploadURL: url("localhost", 2), env.ContentURL: url("127.0.0.1", 3),
		env.AppURL: url("localhost", 4), env.MCPURL: url("localhost", 5),
		env.CoreTable: tables.Core, env.EventsTable: tables.Events, env.HotTable: tables.Hot, env.Bucket: e.Bucket,
		env.ContentRing: rings, env.LinksRing: rings, env.PepperRing: rings, env.SealRing: rings,
		env.DynamoDBEndpoint: e.DynamoDB, env.S3Endpoint: e.S3, env.S3Domain: e.S3Domain,
		env.Region: e.Region, env.AccessKeyID: e.AccessKey, env.SecretAccessKey: e.SecretKey,
	}
}
