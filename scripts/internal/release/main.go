// Command release builds the archives in which the CLI is distributed, and puts them into the bucket of a deployment.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/release/archive"
	"vitrine/scripts/internal/release/bucket"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// folder is where the archives are written, from the top of the repository, where scripts/release runs this program.
const folder = "dist/cli"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("scripts/release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("bucket", "", "`NAME` of the bucket of a deployment to put the archives into as well")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no option", flags.Arg(0))
	}
	if err := archive.Make(ctx, folder, contract.Release, release.Platforms, stderr); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(folder, release.Checksums))
	if err != nil {
		return err
	}
	if _, err := stdout.Write(sums); err != nil || *name == "" {
		return err
	}
	return put(ctx, *name)
}

// put takes account, region and endpoint from the environment, as the AWS command line does.
func put(ctx context.Context, name string) error {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	return bucket.Bucket{Client: s3.NewFromConfig(settings), Name: name}.Put(ctx, folder, contract.Release)
}
