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
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/release/archive"
	"vitrine/scripts/internal/release/bucket"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

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
	version := flags.String("version", contract.Release, "`VERSION` of the archives, three numbers")
	only := flags.String("platform", "", "`OS/ARCH,...` of the archives (default all of "+list(release.Platforms)+")")
	out := flags.String("out", "", "`DIR` for the archives (default dist/cli in the repository)")
	name := flags.String("bucket", "", "`NAME` of the bucket of a deployment to put the archives into as well")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no option", flags.Arg(0))
	}
	if !release.ValidVersion(*version) {
		return fmt.Errorf("%q is no version: it has three numbers, as 0.2.0", *version)
	}
	platforms, err := named(*only)
	if err != nil {
		return err
	}
	folder := *out
	if folder == "" {
		root, err := engines.Root()
		if err != nil {
			return err
		}
		folder = filepath.Join(root, "dist", "cli")
	}
	if err := archive.Make(ctx, folder, *version, platforms, stderr); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(folder, release.Checksums))
	if err != nil {
		return err
	}
	if _, err := stdout.Write(sums); err != nil || *name == "" {
		return err
	}
	return put(ctx, *name, folder, *version)
}

// put takes account, region and endpoint from the environment, as the AWS command line does.
func put(ctx context.Context, name, folder, version string) error {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	return bucket.Bucket{Client: s3.NewFromConfig(settings), Name: name}.Put(ctx, folder, version)
}

// named returns the platforms of a list; an empty one has all.
func named(text string) ([]release.Platform, error) {
	if text == "" {
		return release.Platforms, nil
	}
	var chosen []release.Platform
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(release.Platforms, func(p release.Platform) bool { return p.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("there is no archive for %q: choose from %s", word, list(release.Platforms))
		}
		chosen = append(chosen, release.Platforms[i])
	}
	return chosen, nil
}

func list(platforms []release.Platform) string {
	var words []string
	for _, p := range platforms {
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}
