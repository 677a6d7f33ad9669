package function

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/boot"
)

// Work serves events that are no requests, until Lambda ends the process. It needs no key ring. A wrong configuration is
// one line in the log and exit code 1.
func Work(name string, handler func(*boot.Services, *slog.Logger) func(context.Context, json.RawMessage) error) {
	boot.SetMemory(os.Getenv)
	log := lambdahttp.NewLog(os.Stderr).With("host", name)
	slog.SetDefault(log)
	config, err := boot.FromEnvironment(context.Background(), os.Getenv)
	if err == nil {
		var services *boot.Services
		if services, err = boot.Open(config); err == nil {
			lambda.Start(handler(services, log))
		}
	}
	log.Error("start", "error", err)
	os.Exit(1)
}
