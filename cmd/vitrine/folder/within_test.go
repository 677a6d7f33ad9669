package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/cmd/vitrine/failure"
)

func TestOnlyWhatIsWithinIsOpened(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/site/index.html", "in/site/index.md", "out/index.html", "inside/index.html"} {
		writeFile(t, root, name, "hello")
	}
	symlink(t, filepath.Join(root, "out"), filepath.Join(root, "in", "way"))
	in := filepath.Join(root, "in")
	for path, opens := range map[string]bool{
		in:                                   true,
		filepath.Join(in, "site"):            true,
		filepath.Join(in, "site/../../"):     false,
		filepath.Join(in, "site/index.html"): true,
		filepath.Join(in, "way"):             false,
		filepath.Join(in, "way/index.html"):  false,
		filepath.Join(root, "out"):           false,
		filepath.Join(root, "inside"):        false,
		root:                                 false,
	} {
		_, _, err := openAll(t, Request{Path: path, Within: []string{filepath.Join(root, "absent"), in}})
		if opens != (err == nil) || err != nil && failure.Of(err).Exit != failure.Invalid {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestALinkThatIsMadeMeanwhileLeadsNowhere opens a folder that became a link out after its path was resolved.
func TestALinkThatIsMadeMeanwhileLeadsNowhere(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "out/secret/index.html", "hello")
	writeFile(t, root, "in/index.html", "hello")
	symlink(t, filepath.Join(root, "out"), filepath.Join(root, "in", "site"))
	for _, dir := range []string{"in/site", "in/site/secret"} {
		if r, err := openRoot(filepath.Join(root, dir), []string{filepath.Join(root, "in")}); err == nil {
			r.Close()
			t.Errorf("%s is opened", dir)
		}
	}
}

// TestAFileThatIsReplacedMeanwhileIsNotSent replaces it by what is elsewhere, and by what never ends.
func TestAFileThatIsReplacedMeanwhileIsNotSent(t *testing.T) {
	for name, replace := range map[string]func(file string) error{
		"a link out":      func(file string) error { return os.Symlink("/etc/passwd", file) },
		"a link to zeros": func(file string) error { return os.Symlink("/dev/zero", file) },
		"a pipe":          func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"a folder":        func(file string) error { return os.Mkdir(file, 0o700) },
		"other bytes":     func(file string) error { return os.WriteFile(file, []byte("jello"), 0o600) },
	} {
		dir := t.TempDir()
		file := writeFile(t, dir, "index.html", "hello")
		f, err := Open(Request{Path: dir, Within: []string{dir}})
		if err == nil {
			err = f.Digest(t.Context(), &tally{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := replace(file); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			body, err := f.Body(f.Files[0])
			if err == nil {
				_, err = body.Read(make([]byte, 5))
				body.Close()
			}
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s is sent", name)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s makes it wait", name)
		}
		f.Close()
	}
}

func TestAllSecretsAreAllowedButLogins(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"index.html", ".env", ".aws/config", "keys/.env/a", "logins/vitrine/credentials.json"} {
		writeFile(t, dir, name, "hello")
	}
	rq := Request{Path: dir, Logins: []string{filepath.Join(dir, "logins", "vitrine")}}
	published, refused, err := openAll(t, rq)
	if err != nil || !slices.Equal(published, []string{"index.html"}) || len(refused) < 3 {
		t.Errorf("without: %v, %v, %v", published, refused, err)
	}
	rq.AllSecrets = true
	published, refused, err = openAll(t, rq)
	if err != nil || strings.Join(published, " ") != ".aws/config .env index.html keys/.env/a" ||
		!slices.Equal(refused, []string{"logins/vitrine/"}) {
		t.Errorf("with: %v, %v, %v", published, refused, err)
	}
}
