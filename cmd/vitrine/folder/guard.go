package folder

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/publishing/leftout"
)

// Refused is a file that is not published because it may contain a secret, or a folder of such files. A folder ends
// with a slash.
type Refused struct {
	Path string
	Why  string // continues a sentence after "because"
}

const (
	byName  = "files with that name usually contain secrets"
	isLogin = "the logins of this command are stored there"
)

// guard decides which files may contain secrets.
type guard struct {
	above   []string        // the parts of the root's path, in lower case
	logins  []fs.FileInfo   // folders whose files are never published
	allowed map[string]bool // files that are published although they look like secrets
	state   fs.FileInfo     // folder that is skipped; nil if it does not exist
	all     bool            // every file is allowed
}

// newGuard returns the guard for a root. It ignores a login folder that does not exist.
func newGuard(rq Request, root string) guard {
	g := guard{above: parts(root), allowed: map[string]bool{}, all: rq.AllSecrets}
	for _, dir := range rq.Logins {
		if info, err := os.Stat(dir); err == nil {
			g.logins = append(g.logins, info)
		}
	}
	if info, err := os.Stat(rq.State); err == nil {
		g.state = info
	}
	for _, name := range rq.AllowSecret {
		g.allowed[path.Clean(filepath.ToSlash(name))] = true
	}
	return g
}

// file returns why a file below the root is refused, "" if it is not.
func (g guard) file(p string) string {
	all := g.parts(p)
	if dir := leftout.SecretFolder(all[:len(all)-1]); dir != "" {
		return "credentials are stored in " + dir
	}
	for end := len(g.above); end < len(all); end++ {
		if leftout.IsSecretFile(all[:end+1]) {
			return byName
		}
	}
	return ""
}

// folder returns why a folder below the root is refused with all its contents, "" if it is not. A folder for
// credentials is not refused as a whole; its files are refused one by one.
func (g guard) folder(p string, info fs.FileInfo) string {
	switch {
	case g.keepsLogins(info):
		return isLogin
	case leftout.IsSecretFile(g.parts(p)) && !g.allowsBelow(p):
		return byName
	}
	return ""
}

// allowsBelow reports whether a file below a folder is allowed. The other files of the folder are then refused one by
// one.
func (g guard) allowsBelow(folder string) bool {
	for name := range g.allowed {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return g.all
}

// allows reports whether a file is published although it looks like a secret.
func (g guard) allows(p string) bool { return g.all || g.allowed[p] }

// parts splits a path of the system into its parts, in lower case, because some file systems ignore case.
func parts(p string) []string { return strings.Split(strings.ToLower(filepath.ToSlash(p)), "/") }

func (g guard) parts(p string) []string { return slices.Concat(g.above, parts(p)) }

func (g guard) keepsLogins(info fs.FileInfo) bool {
	return slices.ContainsFunc(g.logins, func(own fs.FileInfo) bool { return os.SameFile(own, info) })
}

// inLogins reports whether a path is a login folder or in one. real must have no symbolic links. Folders are compared
// by identity, so that neither another spelling of a path nor a mount makes a difference.
func (g guard) inLogins(real string) bool {
	for {
		if info, err := os.Stat(real); err == nil && g.keepsLogins(info) {
			return true
		}
		above := filepath.Dir(real)
		if above == real {
			return false
		}
		real = above
	}
}

// root refuses a path that must not be published at all: because of its own name, its target, or a folder above it.
func (g guard) root(at place, isDir bool) error {
	if g.inLogins(at.real) {
		return unusable("%s is not published, because %s", at.given, isLogin).
			Advise("Publish another path; everyone who reads a login can act in your name.")
	}
	for _, p := range []string{at.real, at.absolute} {
		all := parts(p)
		dirs := all
		if !isDir {
			dirs = all[:len(all)-1]
		}
		why := ""
		switch dir := leftout.SecretFolder(dirs); {
		case dir != "":
			why = "credentials are stored in " + dir
		case slices.Contains(all, leftout.Git):
			why = "a " + leftout.Git + " contains addresses with passwords, and everything that was ever committed"
		case !isDir && leftout.IsSecretFile(all):
			why = byName
		}
		if why != "" && (isDir || !g.allows(filepath.Base(at.absolute))) {
			return refusal(at, isDir, why)
		}
	}
	return nil
}

// refusal returns the failure for a path that may contain secrets.
func refusal(at place, isDir bool, why string) error {
	f := failure.New(failure.Invalid, failure.UnusablePath, "%s is not published, because %s", at.given, why)
	if isDir {
		return f.Advise("Publish another folder, or one file of it by name: vitrine publish FILE --allow-secret NAME")
	}
	name := failure.Quoted(filepath.Base(at.absolute))
	return f.Advise("If everyone with the link may read it, name it: --allow-secret %s", name)
}
