// Package function runs one host as a Lambda function.
package function

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"vitrine/functions/assembly"
	"vitrine/shared/adapter/lambdahttp"
)

// Host is what differs between the functions.
type Host struct {
	Name     string
	Rings    []string // settings that name its key rings
	Settings []string // others that not every host needs
	Objects  bool     // it reads the bucket, which is worth a connection ahead of the first request
	Handler  func(*assembly.Services, *slog.Logger) (http.Handler, error)
	// Scheduled makes what a schedule wakes the function for; nil: no schedule does.
	Scheduled func(*assembly.Services, *slog.Logger) func(context.Context) error
}

// Main serves the host until Lambda ends the process. A wrong configuration is one line in the log and exit code 1.
func Main(h Host) {
	assembly.SetMemory(os.Getenv)
	log := lambdahttp.NewLog(os.Stderr).With("host", h.Name)
	slog.SetDefault(log) // what libraries print becomes lines of the same kind
	if err := h.run(context.Background(), log); err != nil {
		log.Error("start", "error", err)
		os.Exit(1)
	}
}

func (h Host) run(ctx context.Context, log *slog.Logger) error {
	config, err := assembly.FromEnvironment(ctx, os.Getenv, slices.Concat(h.Rings, h.Settings)...)
	if err != nil {
		return err
	}
	services, err := assembly.Open(config)
	if err != nil {
		return err
	}
	warm := Warm(ctx, services, h.Objects)
	handler, err := h.Handler(services, log)
	if err != nil {
		return err
	}
	var scheduled func(context.Context) error
	if h.Scheduled != nil {
		scheduled = h.Scheduled(services, log)
	}
	warm()
	lambdahttp.Start(handler, lambdahttp.Mode(config.ResponseMode), scheduled)
	return nil
}
