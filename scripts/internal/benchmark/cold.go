package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/local/engines"
	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

const coldStarts = 20

const coldLegend = `
From the start of a program for this machine to its whole answer to /healthz, with GOMAXPROCS=1 and connections to the
local engines. Budgets are shown only, because times depend on the machine; scripts/build prints the sizes of zip files.
`

// coldBudgets are how many milliseconds a function's start may take.
var coldBudgets = map[string]float64{"content": 15, "upload": 15, "api": 25, "app": 40, "mcp": 25, env.Pages: 40}

var startBudget = column{title: "Budget", form: "%.0f", of: func(r *row) float64 { return coldBudgets[r.title] }}

// coldRows are starts of each function that answers requests.
func (b *bench) coldRows(context.Context) (rows []row, err error) {
	if goruntime.GOOS != "linux" {
		return nil, errors.New("functions are Linux programs: -cold works on Linux only")
	}
	for _, host := range append(slices.Clone(env.Hosts), env.Pages) {
		rows = append(rows, row{name: host, title: host, run: b.startCold})
	}
	return rows, nil
}

// startCold starts a function anew for each of several invocations.
func (b *bench) startCold(ctx context.Context, r *row) error {
	root, err := engines.Root()
	if err != nil {
		return err
	}
	host := r.title
	event, err := os.ReadFile(filepath.Join(root, "events", host, "healthz.json"))
	if err != nil {
		return err
	}
	program, err := bootstrap.Program(ctx, host, goruntime.GOARCH, b.stderr)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	c := runtime.Config{
		Name:        host,
		Program:     program,
		Environment: b.settings(host, root),
		Timeout:     10 * time.Second,
		MemoryMB:    1769,
		Processes:   1,
		Log:         &said,
	}
	for n := range b.atMost(coldStarts) + 1 {
		f, began := runtime.New(c), time.Now()
		answer, err := f.Invoke(ctx, event)
		took := time.Since(began) // from the start of its process to the whole answer
		f.Close()
		if err == nil {
			err = answersOK(answer)
		}
		if err != nil {
			return fmt.Errorf("%w; it says %s", err, said.Bytes())
		}
		if n > 0 { // the first read the program from the disk
			r.add([]time.Duration{took}, took, reading{})
		}
	}
	return nil
}

// settings are what a function is told, with the engines in the place of AWS, and that it has one core.
func (b *bench) settings(host, root string) map[string]string {
	o := stack.Options{Engines: b.engines, Tables: b.tables, Limits: limits.Default()}
	all := stack.Settings(o, b.hosts.Origins, filepath.Join(b.folder, "rings.json"))
	maps.Copy(all, stack.Given(b.engines, root))
	mode := lambdahttp.Buffered
	if host == "content" || host == env.Pages {
		mode = lambdahttp.Stream
	}
	all[env.ResponseMode], all["GOMAXPROCS"] = string(mode), "1"
	return all
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
