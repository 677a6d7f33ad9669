// Package bootstrap builds the programs of the Lambda functions.
package bootstrap

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"vitrine/scripts/internal/compile"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/fresh"
	"vitrine/shared/platform/env"
)

// Architectures are those that Lambda runs.
var Architectures = []string{"arm64", "amd64"}

// Tags exclude what no function uses and what keeps the linker from dropping unused methods:
// net/rpc, and HTTP/2, which neither the Runtime API nor the AWS services in use speak.
const Tags = "lambda.norpc,nethttpomithttp2"

// Sources are the files and folders of the repository that decide what the programs are. Tests in them do not count.
var Sources = []string{
	"functions", "shared", "go.mod", "go.sum", "scripts/internal/package/bootstrap", "scripts/internal/compile",
}

// Program returns the program of a host. It is built once for the same sources and the same Go, so that all processes
// that work in the repository share it. The same sources give the same bytes, wherever the repository is. Log receives
// a line when it is built.
func Program(ctx context.Context, host, arch string, log io.Writer) (string, error) {
	if !slices.Contains(env.Functions, host) {
		return "", fmt.Errorf("there is no function for host %q: choose from %s", host, strings.Join(env.Functions, ", "))
	}
	if !slices.Contains(Architectures, arch) {
		return "", fmt.Errorf("there is no Lambda on %q: choose from %s", arch, strings.Join(Architectures, ", "))
	}
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	key, err := key()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".vitrine", "bin", "lambda")
	program := filepath.Join(folder, arch, host)
	f := fresh.File{Path: program, Key: key, Lock: filepath.Join(folder, "lock")}
	return program, fresh.Make(ctx, f, func() error {
		fmt.Fprintf(log, "building the function of host %s for %s\n", host, arch)
		if err := build(ctx, root, host, arch, program+".new"); err != nil {
			return err
		}
		return os.Rename(program+".new", program)
	})
}

func build(ctx context.Context, root, host, arch, file string) error {
	return compile.Program{
		Name:    "host " + host,
		Package: "./functions/" + host + "/lambda",
		OS:      "linux",
		Arch:    arch,
		Linker:  "-s -w -buildid=",
		// The client of S3 is linked whole. Its calls wait for the network, so that inlining makes them larger alone.
		Compiler: "github.com/aws/aws-sdk-go-v2/service/s3=-l",
		Tags:     Tags,
	}.Build(ctx, root, file)
}

// key is a digest of the sources and of the version of Go, for all functions that a process starts.
var key = sync.OnceValues(func() (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	version, err := compile.Version(context.Background(), root)
	if err != nil {
		return "", err
	}
	return fresh.Key(root, Sources, version)
})
