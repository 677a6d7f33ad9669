// Package archive builds the CLI and packs it into the archives of a release. The same sources and the same Go give the
// same bytes, wherever the repository is and whatever machine builds them.
package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"vitrine/scripts/internal/compile"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/fresh"
	"vitrine/shared/platform/release"
)

// sources are the files and folders of the repository that decide what an archive holds.
var sources = []string{
	"cmd", "shared", "go.mod", "go.sum", "LICENSE", "README.md", "scripts/internal/release/archive", "scripts/internal/compile",
}

// Make writes the archives of a version for some platforms into a folder, and the file with their checksums, which names
// no others. Log receives a line for each archive that is built; those whose sources have not changed are not.
func Make(ctx context.Context, folder, version string, platforms []release.Platform, log io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, p := range platforms {
		built, err := build(ctx, p, version, log)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		name := p.Archive(version)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, release.Checksums), sums.Bytes(), 0o644)
}

// build returns the path of an archive. All processes that work in the repository share it.
func build(ctx context.Context, p release.Platform, version string, log io.Writer) (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	compiler, err := compile.Version(ctx, root)
	if err != nil {
		return "", err
	}
	key, err := fresh.Key(root, sources, compiler, version)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".vitrine", "bin", "cli")
	file := filepath.Join(folder, p.String(), "archive")
	f := fresh.File{Path: file, Key: key, Lock: filepath.Join(folder, "lock")}
	return file, fresh.Make(ctx, f, func() error {
		fmt.Fprintf(log, "building the CLI %s for %s\n", version, p)
		program := file + ".program"
		defer os.Remove(program)
		if err := compiled(p, version).Build(ctx, root, program); err != nil {
			return err
		}
		if err := pack(p, root, program, file+".new"); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	})
}

// compiled keeps the build ID, because the linker makes of it the UUID that macOS wants in a program.
func compiled(p release.Platform, version string) compile.Program {
	return compile.Program{
		Name:    "the CLI for " + p.String(),
		Package: "./cmd/vitrine",
		OS:      p.OS,
		Arch:    p.Arch,
		Linker:  "-s -w -X main.version=" + version,
	}
}
