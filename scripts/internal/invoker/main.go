// Command invoker sends one event to the Lambda function of a host and prints the answer.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case err == nil, errors.Is(err, flag.ErrHelp):
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// request is the parsed command line.
type request struct {
	base         int
	data, mode   string
	host, event  string
	placeholders []string // alternating names and values
}

func parse(args []string, stderr io.Writer) (request, error) {
	var r request
	flags := flag.NewFlagSet("scripts/invoke", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&r.base, "ports", 8700, "`BASE` of the ports of the running stack")
	flags.StringVar(&r.data, "data", "",
		"`DIR` of the stack's data, which holds the key rings (default .vitrine in the repository)")
	flags.StringVar(&r.mode, "mode", "", "stream or buffered (default: stream for content)")
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	if flags.NArg() < 2 {
		return r,
			errors.New("name a host and the file of an event, as in: scripts/invoke content events/content/healthz.json")
	}
	r.host, r.event = flags.Arg(0), flags.Arg(1)
	for _, pair := range flags.Args()[2:] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return r, fmt.Errorf("%q is not NAME=VALUE", pair)
		}
		r.placeholders = append(r.placeholders, "${"+name+"}", value)
	}
	if r.mode == "" && (r.host == "content" || r.host == env.Pages) {
		r.mode = "stream"
	}
	return r, nil
}

// timeout bounds an invocation, as for the deployed functions.
const timeout = 28 * time.Second

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	r, err := parse(args, stderr)
	if err != nil {
		return err
	}
	event, err := os.ReadFile(r.event)
	if err != nil {
		return err
	}
	event = []byte(strings.NewReplacer(r.placeholders...).Replace(string(event)))
	root, err := engines.Root()
	if err != nil {
		return err
	}
	settings, err := settingsOf(ctx, r, root)
	if err != nil {
		return err
	}
	program, err := bootstrap.Program(ctx, r.host, goruntime.GOARCH, stderr)
	if err != nil {
		return err
	}
	f := runtime.New(runtime.Config{
		Name:        r.host,
		Program:     program,
		Environment: settings,
		Timeout:     timeout,
		MemoryMB:    512,
		Processes:   1,
		Log:         stderr,
	})
	defer f.Close()
	answer, err := f.Stream(ctx, event)
	if err != nil {
		return err
	}
	defer answer.Close()
	return show(stdout, answer, answer.ContentType)
}

// settingsOf returns the settings of a function beside the stack that scripts/dev runs.
func settingsOf(ctx context.Context, r request, root string) (map[string]string, error) {
	for name, port := range map[string]int{
		engines.EnvDynamoDB: r.base + engines.DynamoDBOffset, engines.EnvS3: r.base + engines.S3Offset,
	} {
		if os.Getenv(name) == "" {
			os.Setenv(name, "http://127.0.0.1:"+strconv.Itoa(port))
		}
	}
	running, err := engines.Start(ctx, engines.Options{}) // those that run already
	if err != nil {
		return nil, fmt.Errorf("no stack answers at -ports %d: start scripts/dev, or name the ports of the one that runs",
			r.base)
	}
	rings, err := filepath.Abs(filepath.Join(cmp.Or(r.data, filepath.Join(root, ".vitrine")), "rings.json"))
	if err == nil {
		_, err = os.Stat(rings) // else the function would make others
	}
	if err != nil {
		return nil, fmt.Errorf("the stack's key rings: %w: name its data folder with -data", err)
	}
	o := stack.Options{Engines: running, Tables: "vitrine", Limits: limits.Default()}
	settings := stack.Settings(o, stack.OriginsAt(r.base), rings)
	maps.Copy(settings, stack.Given(running, root))
	settings[env.ResponseMode] = r.mode
	return settings, nil
}
