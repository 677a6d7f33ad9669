package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/env"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := engines.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sources returns what a function is built from.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, dir := range bootstrap.Sources {
		err := filepath.WalkDir(filepath.Join(root(t), dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root(t), file)
			if err == nil {
				files[name], err = os.ReadFile(file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// architectures are those that functions are built for: that of this machine, whose programs other tests run too, and
// with the tag architectures all.
var architectures = []string{runtime.GOARCH}

// packUpload builds the upload function, as an example of all.
func packUpload(t *testing.T, arch string) (zipped []byte, said, warned string) {
	t.Helper()
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-arch", arch, "-out", out, "upload"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	zipped, err := os.ReadFile(filepath.Join(out, "upload.zip"))
	if err != nil {
		t.Fatal(err)
	}
	return zipped, stdout.String(), stderr.String()
}

func TestPackages(t *testing.T) {
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) { wantPackages(t, arch) })
	}
}

func wantPackages(t *testing.T, arch string) {
	home := root(t)
	first, said, warned := packUpload(t, arch)
	budget := fmt.Sprintf(" MB of %.1f\n", float64(bootstrap.Budgets[arch]["upload"])/1e6)
	if !strings.HasPrefix(said, "upload   "+arch+"  ") || !strings.HasSuffix(said, budget) || warned != "" {
		t.Errorf("it says %q and warns %q", said, warned)
	}
	t.Run("are what Lambda wants", func(t *testing.T) { wantBootstrap(t, first, arch, home) })
	elsewhere := t.TempDir()
	for name, text := range sources(t) {
		to := filepath.Join(elsewhere, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(elsewhere)
	defer func(most int64) { bootstrap.Budgets[arch]["upload"] = most }(bootstrap.Budgets[arch]["upload"])
	bootstrap.Budgets[arch]["upload"] = 1000
	second, _, warned := packUpload(t, arch)
	t.Run("are equal if the sources are, wherever they are", func(t *testing.T) {
		if !bytes.Equal(first, second) {
			t.Errorf("%d and %d bytes, which differ", len(first), len(second))
		}
	})
	// A program over budget still runs, so that a patch of a dependency does not stop a deployment.
	t.Run("warn over budget", func(t *testing.T) {
		if !strings.Contains(warned, "over budget on "+arch+": upload ") || strings.Count(warned, "\n") != 1 {
			t.Errorf("it warns %q, want one line", warned)
		}
	})
}

// wantBootstrap checks that a zip file holds one static program of an architecture without symbols and without the
// paths of its build.
func wantBootstrap(t *testing.T, zipped []byte, arch, home string) {
	z, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "bootstrap" || z.File[0].Mode() != 0o755 {
		t.Fatalf("the zip file holds %v", z.File[0].FileHeader)
	}
	r, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	code, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := program.ImportedLibraries()
	machine := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64}[arch]
	if program.Machine != machine || len(libraries) > 0 || err != nil || program.Section(".symtab") != nil {
		t.Errorf("machine %v, libraries %v, %v", program.Machine, libraries, err)
	}
	if bytes.Contains(code, []byte(home+"/")) {
		t.Error("it holds the path of the repository")
	}
}

func TestEveryPackageIsWithinItsBudget(t *testing.T) {
	out := t.TempDir()
	for _, arch := range architectures {
		sizes := map[string]int64{}
		for _, host := range env.Functions {
			size, err := pack(t.Context(), host, arch, filepath.Join(out, host+".zip"))
			if err != nil {
				t.Fatal(err)
			}
			sizes[host] = size.Program
			if most := map[string]int64{"app": 2.2e6}[host]; size.Beside > most {
				t.Errorf("%s has %d bytes beside its program, of %d", host, size.Beside, most)
			}
		}
		if sentence := bootstrap.OverBudget(arch, sizes); sentence != "" {
			t.Errorf("%s (%v)", sentence, sizes)
		}
	}
}

func TestOverBudgetIsToldByHostAndArchitecture(t *testing.T) {
	for _, arch := range bootstrap.Architectures {
		for _, host := range env.Functions {
			most := bootstrap.Budgets[arch][host]
			if got := bootstrap.OverBudget(arch, map[string]int64{host: most}); most == 0 || got != "" {
				t.Errorf("%s on %s with a budget of %d: %q", host, arch, most, got)
			}
			want := "over budget on " + arch + ": " + host + " "
			if got := bootstrap.OverBudget(arch, map[string]int64{host: most + 1, "upload": 1}); !strings.Contains(got, want) {
				t.Errorf("%s on %s: %q, want %q", host, arch, got, want)
			}
		}
	}
}

func TestUnknownHostsAndArchitecturesAreRefused(t *testing.T) {
	for _, args := range [][]string{{"nobody"}, {"-arch", "mips", "api"}} {
		args = append([]string{"-out", t.TempDir()}, args...)
		expect.Error(t, run(t.Context(), args, io.Discard, io.Discard), "choose from")
	}
}

// heavy are packages that make the linker keep every method of every type, or that no function needs.
var heavy = []string{"net/rpc", "text/template", "html/template", "encoding/gob", "testing", "expvar",
	"github.com/aws/aws-sdk-go-v2/config"}

func TestFunctionsLinkNothingHeavy(t *testing.T) {
	sources(t) // the cached result of the test depends on them
	for host, linked := range dependencies(t) {
		for _, p := range linked {
			of, ours := strings.CutPrefix(p, "vitrine/")
			from, _, _ := strings.Cut(of, "/")
			if ours && !slices.Contains(bootstrap.Sources, from) {
				t.Errorf("%s links %s, and is not built anew when that changes", host, p)
			}
		}
		for _, p := range heavy {
			if host == "app" && strings.HasSuffix(p, "/template") {
				continue // it makes pages of templates
			}
			if host == "mcp" && p == "encoding/gob" {
				continue // the SDK of the protocol writes its cursors with it
			}
			if slices.Contains(linked, p) {
				t.Errorf("%s links %s; `go list -deps -tags %s` shows through what", host, p, bootstrap.Tags)
			}
		}
		for _, other := range env.Functions {
			if host == "bundle" && other == "jobs" {
				continue // it is a host of scheduled work too
			}
			if foreign := "vitrine/functions/" + other; other != host && slices.Contains(linked, foreign) {
				t.Errorf("%s links %s", host, foreign)
			}
		}
	}
}

// dependencies are the packages that each function links.
func dependencies(t *testing.T) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-tags", bootstrap.Tags, "-f", `{{join .Deps " "}}`)
	for _, host := range env.Functions {
		list.Args = append(list.Args, "./functions/"+host+"/lambda")
	}
	list.Dir, list.Stderr = root(t), os.Stderr
	text, err := list.Output()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(lines) != len(env.Functions) {
		t.Fatalf("%d functions, %v", len(lines), err)
	}
	linked := map[string][]string{}
	for n, host := range env.Functions {
		linked[host] = strings.Fields(lines[n])
	}
	return linked
}
