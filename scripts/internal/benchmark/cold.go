package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
)

// coldBudgets are how many milliseconds a function's start may take.
var coldBudgets = map[string]int64{"content": 15, "upload": 15, "api": 25, "app": 40, "mcp": 25, env.Pages: 40}

// answering are the functions that answer requests.
var answering = append(slices.Clone(env.Hosts), env.Pages)

const (
	coldStarts   = 20
	deployedArch = "arm64"
)

// cold prints each function's zip and cold start. Sizes are held, times depend on the machine and are only shown.
func (b *bench) cold(ctx context.Context, stdout io.Writer) error {
	if goruntime.GOOS != "linux" {
		return errors.New("functions are Linux programs: -cold works on Linux only")
	}
	sizes, err := b.zips(ctx)
	if err != nil {
		return err
	}
	var rows []*row
	for _, host := range answering {
		r := &row{title: host}
		if r.took, err = b.coldStarts(ctx, host); err != nil {
			return fmt.Errorf("function %s: %w", host, err)
		}
		rows = append(rows, r)
	}
	budget := func(title string, of map[string]int64, unit float64) column {
		return column{title: title, form: "%.4g", of: func(r *row) float64 { return float64(of[r.title]) / unit }}
	}
	named := func(title string, c column) column { c.title = title; return c }
	printRows(stdout, "Function", []column{
		budget("Zip MB, "+deployedArch, sizes, 1e6), budget("Budget", bootstrap.Budgets[deployedArch], 1e6),
		named("Start to first answer, p50 ms", latency(50)), named("Fastest", latency(0)), named("Slowest", latency(100)),
		budget("Budget", coldBudgets, 1),
	}, rows...)
	sayMachine(stdout, "Starts are of programs for %s, %d each with GOMAXPROCS=1, with the connections to the local "+
		"engines; the answer is that of /healthz.", goruntime.GOARCH, coldStarts)
	if sentence := bootstrap.OverBudget(deployedArch, sizes); sentence != "" {
		return errors.New(sentence)
	}
	return nil
}

// zips builds the functions as they are deployed and returns the sizes.
func (b *bench) zips(ctx context.Context) (map[string]int64, error) {
	b.say("building the functions for %s", deployedArch)
	root, err := engine.Root()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.folder, "dist")
	build := exec.CommandContext(ctx, filepath.Join(root, "scripts", "build"), "-arch", deployedArch, "-out", folder)
	build.Stdout, build.Stderr = b.stderr, b.stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("scripts/build failed: %w", err)
	}
	sizes := map[string]int64{}
	for _, host := range answering {
		zipped, err := os.ReadFile(filepath.Join(folder, host+".zip"))
		if err != nil {
			return nil, err
		}
		size, err := bootstrap.SizeOf(bytes.NewReader(zipped), int64(len(zipped)))
		if err != nil {
			return nil, err
		}
		sizes[host] = size.Program
	}
	return sizes, nil
}

// coldStarts starts a function anew for each of several invocations and returns how long each took, sorted.
func (b *bench) coldStarts(ctx context.Context, host string) ([]time.Duration, error) {
	b.say("starting %s", host)
	root, err := engine.Root()
	if err != nil {
		return nil, err
	}
	event, err := os.ReadFile(filepath.Join(root, "events", host, "healthz.json"))
	if err != nil {
		return nil, err
	}
	program, err := bootstrap.Program(ctx, host, goruntime.GOARCH, b.stderr)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(b.folder, host+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := runtime.Config{
		Name:        host,
		Program:     program,
		Environment: b.settings(host),
		Timeout:     10 * time.Second,
		MemoryMB:    1769,
		Processes:   1,
		Log:         log,
	}
	var took []time.Duration
	for range coldStarts + 1 {
		f, began := runtime.New(c), time.Now()
		answer, err := f.Invoke(ctx, event)
		took = append(took, time.Since(began)) // from the start of its process to the whole answer
		f.Close()
		if err == nil {
			err = answersOK(answer)
		}
		if err != nil {
			said, _ := os.ReadFile(log.Name()) // it only explains the error
			return nil, fmt.Errorf("%w; it says %s", err, said)
		}
	}
	took = took[1:] // the first read the program from the disk
	slices.Sort(took)
	return took, nil
}

// settings are what a function is told, with the engines in the place of AWS, and that it has one core.
func (b *bench) settings(host string) map[string]string {
	e := b.place.engines
	o := b.hosts.Origins
	tables := dynamo.Named(b.place.tables)
	rings := "file:" + filepath.Join(b.folder, "rings.json")
	mode := lambdahttp.Buffered
	if host == "content" || host == env.Pages {
		mode = lambdahttp.Stream
	}
	return map[string]string{
		env.Environment: string(credential.Preview), env.APIURL: o.API, env.UploadURL: o.Upload, env.ContentURL: o.Content,
		env.AppURL: o.App, env.MCPURL: o.MCP,
		env.CoreTable: tables.Core, env.EventsTable: tables.Events, env.HotTable: tables.Hot, env.Bucket: e.Bucket,
		env.ContentRing: rings, env.LinksRing: rings, env.PepperRing: rings, env.SealRing: rings,
		env.DynamoDBEndpoint: e.DynamoDB, env.S3Endpoint: e.S3, env.S3Domain: e.S3Domain,
		env.Region: e.Region, env.AccessKeyID: e.AccessKey, env.SecretAccessKey: e.SecretKey,
		env.ResponseMode: string(mode), "GOMAXPROCS": "1",
	}
}

// answersOK tells whether what a function gave its gateway is an answer with status 200. A stream begins with the
// status, as JSON, and eight zero bytes before the body.
func answersOK(answer []byte) error {
	head, _, _ := bytes.Cut(answer, make([]byte, 8))
	var a struct{ StatusCode int }
	if err := json.Unmarshal(head, &a); err != nil || a.StatusCode != http.StatusOK {
		return fmt.Errorf("the first answer is %.200q", answer)
	}
	return nil
}
