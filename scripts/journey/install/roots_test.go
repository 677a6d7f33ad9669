//go:build roots

package install_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"vitrine/scripts/testkit/expect"
)

const (
	byCurl = "curl -fsSL %s/install.sh | sh"
	byWget = "wget -qO- %s/install.sh | sh"
)

// TestTheCLIIsInstalledInBareRoots runs the line of the front page where there is nothing but what a small system has.
func TestTheCLIIsInstalledInBareRoots(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("Only root can make the roots of other systems: run this as root.")
	}
	e := newEnv(t)
	for name, system := range map[string]struct {
		root func(*testing.T) string
		line string
	}{
		"busybox":       {busybox, byWget},
		"dash and curl": {func(t *testing.T) string { return gnu(t, "dash", "curl") }, byCurl},
		"bash and wget": {func(t *testing.T) string { return gnu(t, "bash", "wget") }, byWget},
		"Debian":        {debian, byCurl},
	} {
		t.Run(name, func(t *testing.T) {
			root := system.root(t)
			for name, uid := range map[string]uint32{"root": 0, "nobody": nobody} {
				t.Run(name, func(t *testing.T) {
					p := &person{root: root, uid: uid, home: "/home/" + name, path: "/usr/bin:/bin", vars: []string{"TMPDIR=/tmp"}}
					expect.OK(t, os.MkdirAll(root+p.home, 0o755), os.Chown(root+p.home, int(uid), int(uid)))
					e.wantOnlyTheCLI(t, p, fmt.Sprintf(system.line, e.Origins.App))
				})
			}
		})
	}
}

// wantOnlyTheCLI checks that a line installs the CLI in the root of a person and changes nothing else, and that what
// arrives damaged leaves no file there.
func (e *env) wantOnlyTheCLI(t *testing.T, p *person, line string) {
	t.Helper()
	script, before := e.script(t), files(t, p.root)
	e.cut.Store(true)
	p.wantRefused(t, p.run(t, script, "/bin/sh"), "did not arrive")
	e.cut.Store(false)
	e.put(t, file, "half of it")
	p.wantRefused(t, p.run(t, script, "/bin/sh"), "its SHA-256 is")
	e.restore(t)
	folders := []string{p.home + "/.local", p.home + "/.local/bin"}
	wantChanged(t, p.root, before, folders...)
	e.wantInstalled(t, p, p.run(t, "", "/bin/sh", "-c", line))
	wantChanged(t, p.root, before, slices.Concat([]string{p.home + "/.config", p.home + "/.config/vitrine",
		p.home + "/" + settings}, folders, []string{p.bin() + "/vitrine"})...)
}

// files describes all files in a root, by path.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	expect.OK(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.Sys().(*syscall.Stat_t).Uid)
		if !d.IsDir() { // a folder changes with what is in it
			text += fmt.Sprint(info.Size(), info.ModTime())
		}
		all[strings.TrimPrefix(path, root)] = text
		return nil
	}))
	return all
}

// wantChanged checks that nothing in a root differs from before but some paths.
func wantChanged(t *testing.T, root string, before map[string]string, want ...string) {
	t.Helper()
	after := files(t, root)
	changed := maps.Clone(before)
	maps.Copy(changed, after)
	maps.DeleteFunc(changed, func(path, _ string) bool { return before[path] == after[path] })
	if got := slices.Sorted(maps.Keys(changed)); !slices.Equal(got, want) {
		t.Errorf("changed are %q, want %q", got, want)
	}
}

// newRoot returns a root with what every system has.
func newRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"/dev", "/etc", "/tmp", "/usr/bin"} {
		expect.OK(t, os.MkdirAll(root+folder, 0o755))
	}
	expect.OK(t, os.Symlink("usr/bin", root+"/bin"),
		syscall.Mknod(root+"/dev/null", syscall.S_IFCHR, 1<<8|3),
		os.WriteFile(root+"/etc/hosts", []byte("127.0.0.1 localhost\n"), 0o644),
		os.Chmod(root+"/dev/null", 0o666), os.Chmod(root+"/tmp", 0o777), os.Chmod(root, 0o755))
	return root
}

// busybox returns a root of busybox alone.
func busybox(t *testing.T) string {
	t.Helper()
	root := newRoot(t)
	carry(t, root, "busybox")
	p := &person{root: root, home: "/"}
	if s := p.run(t, "", "/bin/busybox", "--install", "-s", "/bin"); s.code != 0 {
		t.Fatal(s)
	}
	return root
}

// gnu returns a root of the programs of this machine that the script needs, with a shell and a program that downloads.
func gnu(t *testing.T, shell, downloads string) string {
	t.Helper()
	root := newRoot(t)
	for _, name := range append([]string{shell, downloads, "sha256sum"}, common...) {
		carry(t, root, name)
	}
	expect.OK(t, os.Symlink(shell, root+"/bin/sh"))
	return root
}

// library finds the path of a file in what ldd prints.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// carry copies a program of this machine and its libraries into a root.
func carry(t *testing.T, root, name string) {
	t.Helper()
	program := find(t, name)
	paths := map[string]string{program: "/usr/bin/" + name}
	libraries, _ := exec.CommandContext(t.Context(), "ldd", program).Output() // it fails for one that has none
	for _, found := range library.FindAllSubmatch(libraries, -1) {
		paths[string(found[1])] = string(found[1])
	}
	for from, to := range paths {
		text := expect.Value(os.ReadFile(from))(t)
		expect.OK(t, os.MkdirAll(filepath.Dir(root+to), 0o755), os.WriteFile(root+to, text, 0o755))
	}
}

// debian returns a root of the smallest Debian, with curl.
func debian(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "debian")
	program := exec.CommandContext(t.Context(), find(t, "debootstrap"),
		"--variant=minbase", "--include=curl", "stable", root)
	program.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // its mounts end with it
	if out, err := program.CombinedOutput(); err != nil {
		t.Fatalf("debootstrap makes no Debian, which it takes from Debian's default mirror: %v\n%s", err, out)
	}
	return root
}
