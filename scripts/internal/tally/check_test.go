package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/executable"
)

// machine is a folder with scripts/check and the few programs that its machine has; those write down how they are
// called.
type machine struct {
	folder string
	path   string
}

// standIn is the text of each program. As go, it installs copies of itself.
const standIn = `#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
[ -z "$VITRINE_BUILD_DIR" ] || echo "pictures in $VITRINE_BUILD_DIR" >>"$CALLS"
case "$*" in
	"list "*) printf 'vitrine/%s\n' shared/platform/id shared/platform/rate scripts/journey functions/app infra ;;
	"install "*) mkdir -p "$GOBIN"; name=${2##*/}; cp "$0" "$GOBIN/${name%@*}" ;;
esac
`

// ownPackages are the folders with a lock file of their own, which only -all installs.
var ownPackages = []string{"scripts/internal/conformance", "scripts/internal/lighthouse"}

func newMachine(t *testing.T, programs ...string) machine {
	t.Helper()
	m := machine{folder: t.TempDir()}
	m.path = filepath.Join(m.folder, "bin")
	dirs := []string{"scripts/s3d", "scripts/internal/snapshot", "bin", "node_modules", "cmd", "functions", "shared/platform/rate"}
	for _, own := range ownPackages {
		dirs = append(dirs, own+"/node_modules")
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(m.folder, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range append([]string{"."}, ownPackages...) {
		if err := os.WriteFile(filepath.Join(m.folder, dir, "package-lock.json"), []byte("{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	concurrent := filepath.Join(m.folder, "shared/platform/rate/rate.go")
	if err := os.WriteFile(concurrent, []byte("\tgo count()\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"check", "prepare"} {
		text, err := os.ReadFile(filepath.Join("..", "..", script))
		if err != nil {
			t.Fatal(err)
		}
		executable.Write(t, filepath.Join(m.folder, "scripts", script), string(text))
	}
	executable.Write(t, filepath.Join(m.folder, "scripts", "synth"), "#!/bin/sh\n")
	for _, program := range programs {
		executable.Write(t, filepath.Join(m.path, program), standIn)
	}
	for _, common := range []string{"bash", "dirname", "mkdir", "touch", "grep", "true", "cat", "cp", "sort", "find"} {
		at, err := exec.LookPath(common)
		if err == nil {
			err = os.Symlink(at, filepath.Join(m.path, common))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// check runs scripts/check; calls are those of the programs.
func (m machine) check(t *testing.T, env ...string) (said, calls string) {
	t.Helper()
	return m.checkWith(t, nil, env...)
}

// checkWith runs scripts/check with flags.
func (m machine) checkWith(t *testing.T, flags []string, env ...string) (said, calls string) {
	t.Helper()
	args := append([]string{filepath.Join(m.folder, "scripts", "check")}, flags...)
	c := exec.CommandContext(t.Context(), filepath.Join(m.path, "bash"), args...)
	c.Env = append(env, "PATH="+m.path, "CALLS="+filepath.Join(m.folder, "calls"), "HOME="+m.folder)
	out, err := c.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("scripts/check did not start: %v", err)
	}
	log, _ := os.ReadFile(filepath.Join(m.folder, "calls"))
	return string(out), string(log)
}

// everything is what scripts/check has to find; git is no part of it.
var everything = []string{
	"go", "gofmt", "node", "npm", "cc", "chromium", "firefox-esr", "WebKitWebDriver", "Xvfb", "unzip",
	"dash", "busybox", "shellcheck", "curl", "wget",
}

// everythingForAll is what scripts/check -all has to find.
var everythingForAll = append([]string{"debootstrap"}, everything...)

func TestCheckNamesWhatIsMissing(t *testing.T) {
	for missing, want := range map[string]string{
		"go": "needs Go 1.26", "node": "install version 20", "npm": "install Node.js 20", "cc": "install gcc", "chromium": "need Chromium",
		"firefox-esr": "need Firefox", "WebKitWebDriver": "need WebKitGTK", "Xvfb": "install Xvfb",
		"unzip": "install it (Debian: apt-get install unzip)", "busybox": "install.sh need busybox",
		"dash": "install.sh need dash", "shellcheck": "install.sh need shellcheck", "curl": "install.sh need curl",
		"wget": "install.sh need wget",
	} {
		var there []string
		for _, program := range everything {
			if program != missing {
				there = append(there, program)
			}
		}
		m := newMachine(t, there...)
		said, calls := m.check(t)
		if strings.Count(strings.TrimPrefix(said, "installing the DynamoDB engine (npm ci)\n"), "\n") != 1 ||
			!strings.Contains(said, want) || strings.Contains(calls, "go test") {
			t.Errorf("without %s it says %q after\n%s", missing, said, calls)
		}
	}
}

// Tests stop and kill engines, which they start themselves.
func TestCheckInstallsTheEnginesWhoeverRunsOthers(t *testing.T) {
	said, calls := newMachine(t, everything...).check(t, "DYNAMODB_ENDPOINT=http://127.0.0.1:1",
		"S3_ENDPOINT=http://127.0.0.1:2")
	if !strings.Contains(calls, "npm ci") {
		t.Errorf("it installs nothing: %q after\n%s", said, calls)
	}
}

// tests returns the calls of go test, without the flags that all have. The tally runs beside them.
func tests(calls string) string {
	var found strings.Builder
	for line := range strings.Lines(calls) {
		if strings.HasPrefix(line, "go test ") {
			found.WriteString(strings.Replace(line, " -json -vet=off -p 4 -timeout 45m", "", 1))
		}
	}
	return found.String()
}

func TestCheckBeginsWithTheSlowestAndRacesWhatRaces(t *testing.T) {
	said, calls := newMachine(t, everything...).check(t)
	const (
		slowest = "go test vitrine/infra vitrine/functions/app vitrine/functions/render vitrine/scripts/journey/lifecycle " +
			"vitrine/scripts/internal/"
		others = " vitrine/scripts/journey vitrine/shared/platform/id\n"
		racing = "go test -race vitrine/shared/platform/rate\ngo test -race -run T91"
		races  = "vitrine/shared/publishing/render\ngo test -race -run Overtak"
		engine = "\ngo test ./...\ngo test ./...\n"
	)
	got := tests(calls)
	if !strings.HasPrefix(got, slowest) || !strings.Contains(got, others+racing) ||
		!strings.Contains(got, races) || !strings.HasSuffix(got, engine) {
		t.Errorf("it says %q after\n%s", said, got)
	}
}

func TestCheckIsShortWithoutCompilerNodeAndBrowser(t *testing.T) {
	m := newMachine(t, "go", "gofmt", "npm")
	said, calls := m.checkWith(t, []string{"-short", "-run", "Name"})
	const want = "go test -short -run Name vitrine/functions/app vitrine/functions/render vitrine/shared/platform/id " +
		"vitrine/shared/platform/rate\n" +
		"go test -run Name ./...\ngo test -run Name ./...\n" // of the modules
	if got := tests(calls); got != want || !strings.Contains(calls, "go run ./scripts/internal/tally -short\n") {
		t.Errorf("it says %q after\n%s", said, calls)
	}
}

func TestCheckRunsTheSuiteAndTheAuditWithAllAlone(t *testing.T) {
	for mode, want := range map[string]int{"-all": 1, "-short": 0} {
		said, calls := newMachine(t, everythingForAll...).checkWith(t, []string{mode})
		for _, test := range []string{
			"architectures vitrine/scripts/internal/package vitrine/scripts/internal/release/archive",
			"cost -run ^Test(Twice|APageOfTheLargest) vitrine/shared/publishing/render",
			"large -run OfTheLargest vitrine/shared/adapter/dynamo vitrine/scripts/journey/budget",
			"large -timeout 20m -run ManyKilled vitrine/scripts/journey/publish",
			"large -timeout 20m -run EveryCall vitrine/scripts/internal/restore/machine",
			"roots -timeout 20m -run BareRoots vitrine/scripts/journey/install",
			"conformance -timeout 15m vitrine/scripts/internal/conformance",
			"lighthouse -timeout 20m vitrine/scripts/internal/lighthouse",
			"engines -timeout 20m vitrine/scripts/journey/engines",
			"drill -timeout 20m -run TwentyRounds vitrine/scripts/internal/drill",
		} {
			if got := strings.Count(tests(calls), "go test -tags "+test+"\n"); got != want {
				t.Errorf("with %s it runs %q %d times after\n%s", mode, test, got, calls)
			}
		}
		if strings.Count(calls, "npm ci") != 1+2*want ||
			strings.Count(said, "installing the conformance suite of MCP (npm ci)\n") != want ||
			strings.Count(said, "installing Lighthouse (npm ci)\n") != want {
			t.Errorf("with %s it says %q after\n%s", mode, said, calls)
		}
	}
	without, _ := newMachine(t, everything...).checkWith(t, []string{"-all"})
	if !strings.Contains(without, "a bare Debian needs debootstrap: install it") {
		t.Errorf("without debootstrap it says %q", without)
	}
	said, calls := newMachine(t, everything...).check(t)
	if strings.Contains(said+calls, "conformance") || strings.Contains(said+calls, "ighthouse") {
		t.Errorf("it says %q after\n%s", said, calls)
	}
}

func TestCheckNamesTheBrowsers(t *testing.T) {
	m := newMachine(t, everything...)
	named := filepath.Join(m.folder, "another")
	executable.Write(t, named, "#!/bin/sh\necho Chromium 147\n")
	executable.Write(t, filepath.Join(m.path, "firefox-esr"), "#!/bin/sh\necho Firefox 153\n")
	executable.Write(t, filepath.Join(m.path, "dpkg-query"), "#!/bin/sh\necho 2.50\n")
	const want = "browsers: Chromium 147, Firefox 153, WebKitGTK 2.50\n"
	if said, _ := m.check(t, "VITRINE_CHROMIUM="+named); !strings.Contains(said, want) {
		t.Errorf("it says %q", said)
	}
}

func TestCheckSavesPicturesWithAllAlone(t *testing.T) {
	for mode, want := range map[string]bool{"-all": true, "-short": false, "": false} {
		m := newMachine(t, everythingForAll...)
		_, calls := m.checkWith(t, strings.Fields(mode))
		pictures := "pictures in " + filepath.Join(m.folder, ".vitrine", "build") + "\n"
		if !strings.Contains(tests(calls), "vitrine/functions/app") || strings.Contains(calls, pictures) != want {
			t.Errorf("with %q it calls\n%s", mode, calls)
		}
	}
}

func TestCheckPrintsFiguresWithoutTests(t *testing.T) {
	said, calls := newMachine(t, "go").checkWith(t, []string{"-figures", "-list", "columns"})
	if calls != "go run ./scripts/internal/measure -list columns\n" || said != "" {
		t.Errorf("it says %q after\n%s", said, calls)
	}
}

func TestCheckRunsItsToolsAtTheirVersions(t *testing.T) {
	m := newMachine(t, everything...)
	_, calls := m.check(t)
	for _, want := range []string{
		"go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.",
		strings.Repeat("golangci-lint run ./...\n", 3), // two are of the modules
		"go install golang.org/x/vuln/cmd/govulncheck@v1.",
		"govulncheck ./...\n",
	} {
		if !strings.Contains(calls, want) {
			t.Errorf("%q is not among\n%s", want, calls)
		}
	}
	if _, again := m.check(t); strings.Count(again, "go install") != strings.Count(calls, "go install") {
		t.Errorf("it installs again:\n%s", again)
	}
}

func TestCheckSaysThatVulnerabilitiesWereNotLookedUp(t *testing.T) {
	m := newMachine(t, everything...)
	executable.Write(t, filepath.Join(m.path, "curl"), "#!/bin/sh\nexit 6\n")
	said, calls := m.check(t)
	if !strings.Contains(said, "vulnerabilities were not looked up") || strings.Contains(calls, "govulncheck") {
		t.Errorf("it says %q after\n%s", said, calls)
	}
}
