package function

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/functions/assembly"
	"vitrine/shared/adapter/lambdahttp"
)

// Work serves events that are no requests, until Lambda ends the process. It needs no key ring. A wrong configuration is
// one line in the log and exit code 1.
func Work(name string, handler func(*assembly.Services, *slog.Logger) func(context.Context, json.RawMessage) error) {
	assembly.SetMemory(os.Getenv)
	log := lambdahttp.NewLog(os.Stderr).With("host", name)
	slog.SetDefault(log)
	config, err := assembly.FromEnvironment(context.Background(), os.Getenv)
	if err == nil {
		var services *assembly.Services
		if services, err = assembly.Open(config); err == nil {
			lambda.Start(handler(services, log))
		}
	}
	log.Error("start", "error", err)
	os.Exit(1)
}
