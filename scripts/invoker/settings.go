package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"vitrine/scripts/local/engine"
	"vitrine/shared/dynamo"
	"vitrine/shared/setting"
)

// settingsOf are the settings of a function beside the stack that scripts/dev runs.
func settingsOf(ctx context.Context, r request) (map[string]string, error) {
	for name, port := range map[string]int{engine.EnvDynamoDB: r.base + 11, engine.EnvS3: r.base + 12} {
		if os.Getenv(name) == "" {
			os.Setenv(name, "http://127.0.0.1:"+strconv.Itoa(port))
		}
	}
	engines, err := engine.Start(ctx, engine.Options{}) // those that run already
	if err != nil {
		return nil, fmt.Errorf("no stack answers at -ports %d: start scripts/dev, or name the ports of the one that runs", r.base)
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
		setting.Environment: "preview", setting.ResponseMode: r.mode,
		setting.APIURL: url("localhost", 1), setting.UploadURL: url("localhost", 2), setting.ContentURL: url("127.0.0.1", 3),
		setting.AppURL:    url("localhost", 4),
		setting.CoreTable: tables.Core, setting.EventsTable: tables.Events, setting.HotTable: tables.Hot, setting.Bucket: e.Bucket,
		setting.ContentRing: rings, setting.LinksRing: rings, setting.PepperRing: rings, setting.SealRing: rings,
		setting.DynamoDBEndpoint: e.DynamoDB, setting.S3Endpoint: e.S3, setting.S3Domain: e.S3Domain,
		setting.Region: e.Region, setting.AccessKeyID: e.AccessKey, setting.SecretAccessKey: e.SecretKey,
	}
}
