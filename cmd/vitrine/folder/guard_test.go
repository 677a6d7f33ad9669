package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/leftout"
)

func TestFoldersOfCredentials(t *testing.T) {
	expect.Results(t, func(name string) string { return leftout.SecretFolder(parts(name)) }, map[string]string{
		"/home/me/.ssh":             ".ssh",
		"/home/me/.AWS/sso/cache":   ".aws",
		"/home/me/.config/gcloud/x": ".config/gcloud",
		".azure":                    ".azure",
		"/home/me/.config":          "",
		"/home/me/gcloud":           "",
		"/home/me/ssh":              "",
		"/home/me/.ssh2":            "",
		"/":                         "",
		"site":                      "",
	})
}

// writeFile makes a file with a text, and the folders above it.
func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	disk.Write(t, dir, map[string]string{name: text})
	return filepath.Join(dir, name)
}

func symlink(t *testing.T, to, name string) string {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// openAll opens and reads what a request names, and returns what would be published and what is refused.
func openAll(t *testing.T, rq Request) (published, refused []string, err error) {
	t.Helper()
	f, err := Open(rq)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	err = f.Digest(t.Context(), &tally{})
	for _, file := range f.Files {
		published = append(published, file.Path)
	}
	for _, r := range f.Skipped.Secrets {
		refused = append(refused, r.Path)
		if r.Why == "" {
			t.Errorf("%s is refused without a reason", r.Path)
		}
	}
	return published, refused, err
}

func TestLoginsAreNeverPublished(t *testing.T) {
	home := t.TempDir()
	logins := filepath.Join(home, "settings", "vitrine")
	file := writeFile(t, logins, "kept.txt", "{}")
	writeFile(t, home, "index.html", "hello")
	writeFile(t, logins, "below/index.html", "hello")
	for name, path := range map[string]string{
		"the folder":          logins,
		"a folder below":      filepath.Join(logins, "below"),
		"a file":              file,
		"a file below":        filepath.Join(logins, "below", "index.html"),
		"a link to the file":  symlink(t, file, filepath.Join(home, "innocent.txt")),
		"a link to it":        symlink(t, logins, filepath.Join(home, "innocent")),
		"a way through links": filepath.Join(home, "innocent", "kept.txt"),
	} {
		for _, allow := range [][]string{nil, {"kept.txt", "innocent.txt", "index.html"}} {
			rq := Request{Path: path, AllowSecret: allow, Logins: []string{logins}}
			_, _, err := openAll(t, rq)
			if failure.Of(err).Exit != failure.Invalid || !strings.Contains(err.Error(), "logins of this command") {
				t.Errorf("%s, allowing %v: %v", name, allow, err)
			}
		}
	}
	published, refused, err := openAll(t,
		Request{Path: home, Logins: []string{"/not/there", filepath.Join(home, "innocent")}})
	if err != nil || !slices.Equal(published, []string{"index.html"}) ||
		!slices.Equal(refused, []string{"innocent", "innocent.txt", "settings/vitrine/"}) {
		t.Errorf("published %v, refused %v, error %v", published, refused, err)
	}
	kept := Request{Path: home, AllowSecret: []string{"settings/vitrine/kept.txt"}, Logins: []string{logins}}
	if _, _, err := openAll(t, kept); failure.Of(err).Exit != failure.Invalid {
		t.Errorf("a login was allowed: %v", err)
	}
}

func TestAGitFolderIsNeverARoot(t *testing.T) {
	repo := t.TempDir()
	config := writeFile(t, repo, ".git/config", "url = https://user:token@example.com")
	writeFile(t, repo, ".git/hooks/index.html", "hello")
	writeFile(t, repo, "sub/.git", "gitdir: ../.git/modules/sub")
	writeFile(t, repo, "index.html", "hello")
	for name, path := range map[string]string{
		"the folder":              filepath.Join(repo, ".git"),
		"a file":                  config,
		"a folder below":          filepath.Join(repo, ".git", "hooks"),
		"a file further below":    filepath.Join(repo, ".git", "hooks", "index.html"),
		"the file of a submodule": filepath.Join(repo, "sub", ".git"),
		"a link":                  symlink(t, config, filepath.Join(t.TempDir(), "config.txt")),
		"a link to it":            symlink(t, filepath.Join(repo, ".git"), filepath.Join(t.TempDir(), "git")),
	} {
		if _, _, err := openAll(t, Request{Path: path, Entrypoint: "config"}); failure.Of(err).Exit != failure.Invalid ||
			!strings.Contains(err.Error(), "a .git contains") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if published, _, err := openAll(t, Request{Path: config, AllowSecret: []string{"config"}}); err != nil ||
		len(published) != 1 {
		t.Errorf("a file that is named: published %v, error %v", published, err)
	}
	rq := Request{Path: filepath.Join(repo, ".git"), Entrypoint: "config", AllowSecret: []string{"config"}}
	if _, _, err := openAll(t, rq); err == nil {
		t.Error("a whole .git was allowed")
	}
}

func TestFilesThatHoldSecretsStayBehind(t *testing.T) {
	token := credential.Mint(credential.APIKey, credential.Production, id.NewWorkspace(), "").Reveal()
	dir := writeFiles(t, map[string]string{
		"index.html": "hello",
		"notes.txt":  strings.Repeat("x", 32<<10-40) + token,
		"image.bin":  "\x00\x01" + token + "\xff",
		"doc.html":   "ap_pk_production_…",
		"key.txt":    "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("A", 64) + "\n",
	})
	published, refused, err := openAll(t, Request{Path: dir})
	if err != nil || !slices.Equal(published, []string{"doc.html", "index.html"}) ||
		!slices.Equal(refused, []string{"image.bin", "key.txt", "notes.txt"}) {
		t.Errorf("published %v, refused %v, error %v", published, refused, err)
	}
	published, refused, err = openAll(t, Request{Path: dir, AllowSecret: []string{"./notes.txt"}})
	if err != nil || !slices.Equal(published, []string{"doc.html", "index.html", "notes.txt"}) ||
		!slices.Equal(refused, []string{"image.bin", "key.txt"}) {
		t.Errorf("one allowed: published %v, refused %v, error %v", published, refused, err)
	}
	for name, rq := range map[string]Request{
		"a single file":             {Path: filepath.Join(dir, "notes.txt")},
		"the file that opens first": {Path: dir, Entrypoint: "notes.txt"},
	} {
		_, _, err := openAll(t, rq)
		if f := failure.Of(err); f.Exit != failure.Invalid ||
			!strings.Contains(f.Message, "it holds a secret of Vitrine (ap_pk_...)") ||
			!strings.Contains(f.Hint, "--allow-secret notes.txt") || strings.Contains(f.Message+f.Hint, token) {
			t.Errorf("%s: %+v", name, f)
		}
		rq.AllowSecret = []string{"notes.txt"}
		if _, _, err := openAll(t, rq); err != nil {
			t.Errorf("%s, allowed: %v", name, err)
		}
	}
}

func TestLinksAndFoldersDoNotHideSecrets(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"index.html":            "hello",
		".env/bin/activate":     "x",
		".ssh/config":           "x",
		".ssh/deep/index.html":  "x",
		`.ssh/odd\name/x`:       "x",
		"site/.aws/credentials": "x",
		"b/.docker/config.json": "x",
	})
	for name, to := range map[string]string{
		"a.txt":  ".env/bin/activate",
		"c.txt":  ".ssh/deep/index.html",
		"d.txt":  "b/.docker/config.json",
		".npmrc": "index.html",
	} {
		symlink(t, to, filepath.Join(dir, name))
	}
	published, refused, err := openAll(t, Request{Path: dir})
	slices.Sort(refused)
	want := `.env/ .npmrc .ssh/config .ssh/deep/index.html .ssh/odd\name/ ` +
		`a.txt b/.docker/config.json c.txt d.txt site/.aws/credentials`
	if err != nil || !slices.Equal(published, []string{"index.html"}) || strings.Join(refused, " ") != want {
		t.Errorf("published %v, refused %v, error %v", published, refused, err)
	}
	published, refused, err = openAll(t, Request{Path: dir, AllowSecret: []string{".env/bin/activate"}})
	if err != nil || !slices.Equal(published, []string{".env/bin/activate", "index.html"}) || len(refused) != 9 {
		t.Errorf("one allowed in a folder: published %v, refused %v, error %v", published, refused, err)
	}
	above := filepath.Join(dir, "b", ".docker")
	if _, refused, err := openAll(t, Request{Path: above}); err == nil || len(refused) > 0 ||
		!strings.Contains(failure.Of(err).Hint, "config.json") {
		t.Errorf("below the folder that makes it one: refused %v, error %v", refused, err)
	}
}
