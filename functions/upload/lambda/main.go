// Command lambda is the upload host as a Lambda function.
package main

import (
	"context"
	"log/slog"
	"os"

	"vitrine/shared/boot"
	"vitrine/shared/boot/upload"
	"vitrine/shared/lambdahttp"
)

func main() {
	log := lambdahttp.NewLog(os.Stderr).With("host", "upload")
	slog.SetDefault(log) // what libraries print becomes lines of the same kind
	if err := run(context.Background(), log); err != nil {
		log.Error("start", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger) error {
	config, err := boot.FromEnvironment(ctx, os.Getenv, upload.Rings...)
	if err != nil {
		return err
	}
	services, err := boot.Open(ctx, config)
	if err != nil {
		return err
	}
	warm := services.Warm(ctx, true)
	handler, err := upload.Handler(services, log)
	if err != nil {
		return err
	}
	warm()
	lambdahttp.Start(handler, lambdahttp.Mode(config.ResponseMode))
	return nil
}
