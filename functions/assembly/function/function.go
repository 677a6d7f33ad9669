// Package function runs one host as a Lambda function.
package function

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/functions/assembly"
	"vitrine/shared/adapter/lambdahttp"
)

// Host describes what differs between the functions.
type Host struct {
	Name     string
	Rings    []string // settings that name its key rings
	Settings []string // further settings that the host requires
	Objects  bool     // the host reads the bucket, so that a connection is opened before the first request
	Handler  func(*assembly.Services, *slog.Logger) (http.Handler, error)
	// Scheduled returns the task for events of a schedule; nil: there are none.
	Scheduled func(*assembly.Services, *slog.Logger) func(context.Context) error
}

// Main serves the host until Lambda ends the process.
func Main(h Host) { start(h.Name, slices.Concat(h.Rings, h.Settings), h.serve) }

func (h Host) serve(s *assembly.Services, log *slog.Logger) error {
	warm := Warm(context.Background(), s, h.Objects)
	handler, err := h.Handler(s, log)
	if err != nil {
		return err
	}
	var scheduled func(context.Context) error
	if h.Scheduled != nil {
		scheduled = h.Scheduled(s, log)
	}
	warm()
	lambdahttp.Start(handler, lambdahttp.Mode(s.Config.ResponseMode), scheduled)
	return nil
}

// Work serves events that are not requests, until Lambda ends the process. It needs no key ring.
func Work(name string, handler func(*assembly.Services, *slog.Logger) func(context.Context, json.RawMessage) error) {
	start(name, nil, func(s *assembly.Services, log *slog.Logger) error {
		lambda.Start(handler(s, log))
		return nil
	})
}

// start opens the services that the environment describes and serves. It reports a wrong configuration in one line of
// the log and exits with code 1.
func start(name string, needs []string, serve func(*assembly.Services, *slog.Logger) error) {
	assembly.SetMemory(os.Getenv)
	log := lambdahttp.NewLog(os.Stderr).With("host", name)
	slog.SetDefault(log) // so that libraries log in the same format
	config, err := assembly.FromEnvironment(context.Background(), os.Getenv, needs...)
	var services *assembly.Services
	if err == nil {
		services, err = assembly.Open(config)
	}
	if err == nil {
		err = serve(services, log)
	}
	if err != nil {
		log.Error("start", "error", err)
		os.Exit(1)
	}
}
