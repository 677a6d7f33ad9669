// Package bootstrap builds the programs of the Lambda functions.
package bootstrap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/platform/env"
)

// Architectures are those that Lambda runs.
var Architectures = []string{"arm64", "amd64"}

// Tags leave out what no function uses, and what keeps the linker from dropping methods that nobody calls: net/rpc, and
// HTTP/2, which neither the Runtime API nor the services of AWS that we call speak.
const Tags = "lambda.norpc,nethttpomithttp2"

// Build writes the program of a host to a file. The same sources give the same bytes, wherever the repository is.
func Build(ctx context.Context, host, arch, file string) error {
	if !slices.Contains(env.Functions, host) {
		return fmt.Errorf("there is no function for host %q: choose from %s", host, strings.Join(env.Functions, ", "))
	}
	if !slices.Contains(Architectures, arch) {
		return fmt.Errorf("there is no Lambda on %q: choose from %s", arch, strings.Join(Architectures, ", "))
	}
	root, err := engine.Root()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-tags", Tags,
		"-o", file, "./functions/"+host+"/lambda")
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOARM64=", "GOAMD64=")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("`go build` of host %s failed (%w): %s", host, err, bytes.TrimSpace(output))
	}
	return nil
}
