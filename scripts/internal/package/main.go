// Command package builds the functions and writes the zip files that are deployed. It warns if one is over its budget.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("scripts/build", flag.ContinueOnError)
	arch := flags.String("arch", "arm64", "`ARCH` of the functions: "+strings.Join(bootstrap.Architectures, " or "))
	out := flags.String("out", "", "`DIR` for the zip files (default dist in the repository)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir := *out
	if dir == "" {
		root, err := engines.Root()
		if err != nil {
			return err
		}
		dir = filepath.Join(root, "dist")
	}
	hosts := flags.Args()
	if len(hosts) == 0 {
		hosts = env.Functions
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	programs := map[string]int64{}
	for _, host := range hosts {
		size, err := pack(ctx, host, *arch, filepath.Join(dir, host+".zip"))
		if err != nil {
			return err
		}
		most := bootstrap.Budgets[*arch][host]
		fmt.Fprintf(stdout, "%-8s %s %5.2f MB of %.1f%s\n", host, *arch, float64(size.Program)/1e6, float64(most)/1e6, more(size))
		programs[host] = size.Program
	}
	if sentence := bootstrap.OverBudget(*arch, programs); sentence != "" {
		fmt.Fprintln(stderr, sentence)
	}
	return nil
}

// pack writes one function into a zip file and returns its sizes. That of the app has the programs that pages run
// beside it.
func pack(ctx context.Context, host, arch, file string) (bootstrap.Size, error) {
	program, err := bootstrap.Program(ctx, host, arch, io.Discard)
	if err != nil {
		return bootstrap.Size{}, err
	}
	if host != "app" {
		return zipFunction(program, file, nil, nil)
	}
	root, err := engines.Root()
	if err != nil {
		return bootstrap.Size{}, err
	}
	tree := os.DirFS(root)
	names, err := script.Files(tree)
	if err != nil {
		return bootstrap.Size{}, err
	}
	return zipFunction(program, file, tree, names)
}

// more names what is beside the program.
func more(s bootstrap.Size) string {
	if s.Beside == 0 {
		return ""
	}
	return fmt.Sprintf(", and %.2f MB of programs for pages", float64(s.Beside)/1e6)
}
