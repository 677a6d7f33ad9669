package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/executable"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// shells are those that sh is on the systems of people.
var shells = map[string][]string{"dash": {"dash"}, "bash": {"bash", "--posix"}, "busybox": {"busybox", "sh"}}

const settings = ".config/vitrine/config.json"

// find returns the path of a program; scripts/prepare says how to install one that is missing.
func find(t *testing.T, name string) string {
	t.Helper()
	at, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing: scripts/check installs it", name)
	}
	return at
}

// tools makes a folder of links to programs, to be the whole PATH of a person.
func (p *person) tools(t *testing.T, names ...string) {
	t.Helper()
	p.path = t.TempDir()
	for dir := p.path; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		expect.OK(t, os.Chmod(dir, 0o755)) // the test's user alone may enter them
	}
	for _, name := range names {
		expect.OK(t, os.Symlink(find(t, name), filepath.Join(p.path, name)))
	}
}

// common are the programs that the script needs, besides one that downloads and one that computes checksums.
var common = []string{"uname", "mktemp", "tar", "gzip", "mkdir", "chmod", "mv", "rm"}

func TestTheCLIIsInstalledByEveryShell(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	for name, shell := range shells {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			e.wantInstalled(t, p, p.run(t, script, append([]string{find(t, shell[0])}, shell[1:]...)...))
			if info := expect.Value(os.Stat(filepath.Join(p.bin(), "vitrine")))(t); info.Mode() != 0o755 {
				t.Errorf("the program has the mode %v", info.Mode())
			}
		})
	}
}

// wantInstalled checks that a person who had nothing has the CLI, which talks to the deployment, and no other file.
func (e *env) wantInstalled(t *testing.T, p *person, s said) {
	t.Helper()
	if s.code != 0 || s.err != "" {
		t.Fatalf("exit %d with %q", s.code, s.err)
	}
	want := "vitrine " + contract.Release + " is installed: " + p.bin() + "/vitrine\n" +
		"This folder is not in your PATH. To find the program there, add this line to the profile of your shell:\n" +
		"  export PATH=\"" + p.bin() + ":$PATH\"\n" +
		"Next: vitrine publish ./report --ephemeral\n"
	if s.out != want {
		t.Errorf("it says %q, want %q", s.out, want)
	}
	if got := p.installed(t); got != "vitrine "+contract.Release {
		t.Errorf("installed is %q", got)
	}
	if got := p.run(t, "", filepath.Join(p.bin(), "vitrine"), "config", "get", "url").out; got != e.Origins.API+"\n" {
		t.Errorf("it talks to %s", got)
	}
	p.wantClean(t, settings, ".local/bin/vitrine")
}

func TestTheToolsOfASmallSystemDo(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	for name, names := range map[string][]string{
		"wget and sha256sum": append([]string{"wget", "sha256sum"}, common...),
		"curl and shasum":    append([]string{"curl"}, common...),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			p.tools(t, names...)
			if strings.HasSuffix(name, "shasum") {
				executable.Write(t, filepath.Join(p.path, "shasum"),
					"#!/bin/sh\n[ \"$*\" = '-a 256' ] && exec "+find(t, "sha256sum")+"\n")
			}
			e.wantInstalled(t, p, p.run(t, script, find(t, "dash")))
		})
	}
	t.Run("busybox alone", func(t *testing.T) {
		p := newPerson(t)
		p.tools(t)
		busybox := find(t, "busybox")
		if out, err := exec.CommandContext(t.Context(), busybox, "--install", "-s", p.path).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		e.wantInstalled(t, p, p.run(t, script, filepath.Join(p.path, "sh")))
	})
}

func TestWhatTheScriptNeedsIsNamed(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	for _, c := range []struct {
		name, says string
		tools      []string
		uname      string // prints the system, or the processor with -m; empty: that of the machine
		vars       []string
	}{
		{name: "nothing that downloads", says: "curl or wget is needed", tools: append([]string{"sha256sum"}, common...)},
		{name: "nothing that checks", says: "sha256sum or shasum is needed", tools: append([]string{"curl"}, common...)},
		{name: "nothing that unpacks", says: "tar is needed", tools: []string{"curl", "uname", "mktemp", "rm"}},
		{name: "another system", says: "There is no CLI for SunOS.", uname: "echo SunOS"},
		{name: "another processor", says: "There is no CLI for riscv64 processors.",
			uname: "[ $1 = -s ] && echo Linux || echo riscv64"},
		{name: "a system that is not built here", says: "This deployment has no CLI for darwin on arm64.",
			uname: "[ $1 = -s ] && echo Darwin || echo arm64"},
		{name: "Windows", says: "In PowerShell of Windows run: irm " + e.front.URL + "/install.ps1 | iex",
			uname: "echo MINGW64_NT-10.0"},
		{name: "no home", says: "Neither VITRINE_INSTALL nor HOME is set", vars: []string{"HOME="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPerson(t)
			if c.tools != nil {
				p.tools(t, c.tools...)
			}
			if c.uname != "" {
				p.tools(t)
				executable.Write(t, filepath.Join(p.path, "uname"), "#!/bin/sh\n"+c.uname+"\n")
				p.path += ":/usr/bin:/bin"
			}
			p.vars = append(p.vars, c.vars...)
			p.wantRefused(t, p.run(t, script, find(t, "dash")), c.says)
		})
	}
	t.Run("a deployment without TLS", func(t *testing.T) {
		p := newPerson(t)
		open := strings.Replace(script, e.front.URL, "http://vitrine.example", 1)
		p.wantRefused(t, p.run(t, open, find(t, "dash")), "would send the program without encryption")
	})
}

// wantRefused checks that nothing was installed, for a reason.
func (p *person) wantRefused(t *testing.T, s said, says string) {
	t.Helper()
	if s.code != 1 || s.out != "" || !strings.Contains(s.err, "vitrine was not installed. ") ||
		!strings.Contains(s.err, says) {
		t.Errorf("exit %d with %q and %q, want %q", s.code, s.out, s.err, says)
	}
	p.wantClean(t)
}

func TestWhatArrivesDamagedIsNotInstalled(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	sums := release.File{Version: contract.Release, Name: release.Checksums}
	for name, c := range map[string]struct {
		damage func()
		says   string
	}{
		"a connection that breaks off": {func() { e.cut.Store(true) }, "did not arrive"},
		"another checksum": {
			func() { e.put(t, sums, strings.Repeat("0", 64)+"  "+file.Name+"\n") },
			"its SHA-256 is",
		},
		"another archive":     {func() { e.put(t, file, "half of it") }, "its SHA-256 is"},
		"no archive":          {func() { e.put(t, sums, "\n") }, "This deployment has no CLI for"},
		"no release any more": {func() { e.remove(t, sums) }, e.front.URL + "/cli/" + contract.Release + "/checksums.txt did not"},
	} {
		t.Run(name, func(t *testing.T) {
			e.restore(t)
			c.damage()
			for _, downloads := range []string{"curl", "wget"} {
				p := newPerson(t)
				p.tools(t, append([]string{downloads, "sha256sum"}, common...)...)
				p.wantRefused(t, p.run(t, script, find(t, "dash")), c.says)
			}
		})
	}
}

// TestAPartOfTheScriptDoesNothing cuts the script at the end of each line, and at each byte of the last one.
func TestAPartOfTheScriptDoesNothing(t *testing.T) {
	e := newEnv(t)
	script := strings.TrimSuffix(e.script(t), "\n")
	var cuts []int
	for i := range script {
		if script[i] == '\n' || i > strings.LastIndexByte(script, '\n') {
			cuts = append(cuts, i)
		}
	}
	before := e.requests.Load()
	for name, shell := range shells {
		p := newPerson(t)
		at := append([]string{find(t, shell[0])}, shell[1:]...)
		for _, cut := range cuts {
			if s := p.run(t, script[:cut], at...); s.out != "" {
				t.Errorf("%s: after %d bytes it says %q", name, cut, s.out)
			}
		}
		p.wantClean(t)
	}
	if len(cuts) < 100 || e.requests.Load() != before {
		t.Errorf("%d parts sent %d requests", len(cuts), e.requests.Load()-before)
	}
}

func TestAFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	p := newPerson(t)
	shut := filepath.Join(p.home, "shut")
	expect.OK(t, os.Mkdir(shut, 0o555))
	for folder, says := range map[string]string{shut: " cannot be written to", shut + "/below": " cannot be made"} {
		before := e.requests.Load()
		p.vars = []string{"VITRINE_INSTALL=" + folder}
		p.wantRefused(t, p.run(t, script, find(t, "dash")), folder+says)
		if e.requests.Load() != before {
			t.Error("it downloads first")
		}
	}
	p.vars = []string{"VITRINE_INSTALL=" + filepath.Join(p.home, "opt")}
	expect.OK(t, os.MkdirAll(filepath.Join(p.home, "opt", "vitrine"), 0o755))
	p.wantRefused(t, p.run(t, script, find(t, "dash")), "/opt/vitrine is a folder")
}

func TestAnInstalledVersionIsReplacedUnlessItIsNewer(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	const newer = "99.1.0"
	for says, replaced := range map[string]bool{
		"echo vitrine 0.0.9":                        true,
		"echo vitrine " + contract.Release:          true,
		"echo vitrine " + contract.Release + "-dev": true,
		"exit 1":                         true, // half a program
		"echo vitrine " + newer:          false,
		"echo vitrine " + newer + "-dev": false,
		"echo another thing":             false,
	} {
		t.Run(says, func(t *testing.T) {
			p := newPerson(t)
			expect.OK(t, os.MkdirAll(p.bin(), 0o777))
			expect.OK(t, os.Chmod(p.bin(), 0o777))
			executable.Write(t, filepath.Join(p.bin(), "vitrine"), "#!/bin/sh\n"+says+"\n")
			s := p.run(t, script, find(t, "dash"))
			switch {
			case replaced:
				if s.code != 0 || p.installed(t) != "vitrine "+contract.Release {
					t.Errorf("exit %d with %q; installed is %q", s.code, s.err, p.installed(t))
				}
			case strings.Contains(says, newer):
				if s.code != 0 || !strings.Contains(s.out, "newer than the "+contract.Release+" of this deployment, so it stays") ||
					!strings.HasPrefix(p.installed(t), "vitrine "+newer) {
					t.Errorf("exit %d with %q; installed is %q", s.code, s.out, p.installed(t))
				}
			default:
				if s.code != 1 || !strings.Contains(s.err, "is another program") || p.installed(t) != "another thing" {
					t.Errorf("exit %d with %q; installed is %q", s.code, s.err, p.installed(t))
				}
			}
		})
	}
}

func TestAnAddressThatIsSetStays(t *testing.T) {
	e := newEnv(t)
	script := e.script(t)
	const other = "https://other.example"
	p := newPerson(t)
	e.wantInstalled(t, p, p.run(t, script, find(t, "dash")))
	program := filepath.Join(p.bin(), "vitrine")
	p.run(t, "", program, "config", "set", "url", other)
	hint := fmt.Sprintf("It talks to another deployment. To use this one: vitrine config set url %s\n", e.Origins.API)
	if s := p.run(t, script, find(t, "dash")); s.code != 0 || !strings.Contains(s.out, hint) {
		t.Errorf("exit %d with %q", s.code, s.out)
	}
	if got := p.run(t, "", program, "config", "get", "url").out; got != other+"\n" {
		t.Errorf("it talks to %s", got)
	}
	p.vars = []string{"VITRINE_URL=" + e.Origins.API}
	if s := p.run(t, script, find(t, "dash")); s.code != 0 || strings.Contains(s.out, "another deployment") {
		t.Errorf("exit %d with %q", s.code, s.out)
	}
}

func TestTheScriptPassesShellcheck(t *testing.T) {
	e := newEnv(t)
	p := newPerson(t)
	if s := p.run(t, e.script(t), find(t, "shellcheck"), "-"); s.code != 0 {
		t.Error(s.out, s.err)
	}
}
