package stdio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// tree makes a home with a project, and files outside of it.
func tree(t *testing.T) (root string, p Places) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{
		"home/project/sub", "home/.ssh", "home/.codex", "home/Library/App", "elsewhere", "codex/x",
	} {
		must(t, os.MkdirAll(at(dir), 0o755))
	}
	for _, file := range []string{
		"home/project/index.html", "home/project/sub/a.css", "home/.ssh/id_rsa", "elsewhere/secret",
	} {
		must(t, os.WriteFile(at(file), []byte("x"), 0o600))
	}
	must(t, os.Symlink(at("elsewhere/secret"), at("home/project/out")))
	must(t, os.Symlink(at("elsewhere"), at("home/project/outside")))
	must(t, os.Symlink("sub", at("home/project/inside")))
	must(t, os.Symlink("nowhere", at("home/project/broken")))
	must(t, os.Symlink(at("home/project"), at("elsewhere/link")))
	must(t, os.Symlink(at("home"), at("elsewhere/homelink")))
	must(t, syscall.Mkfifo(at("home/project/pipe"), 0o600))
	return root, Places{
		Work:    []string{at("home/project")},
		Homes:   []string{at("home")},
		Private: []string{at("codex"), at("missing")},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestT108OnlyWhatIsBelowAFolderIsFound(t *testing.T) {
	root, p := tree(t)
	project := filepath.Join(root, "home/project")
	for _, tt := range []struct{ path, want string }{ // want below the root; "": refused
		{".", "home/project"},
		{"index.html", "home/project/index.html"},
		{"sub/../index.html", "home/project/index.html"},
		{project, "home/project"},
		{project + "/sub/", "home/project/sub"},
		{"inside/a.css", "home/project/sub/a.css"},
		{filepath.Join(root, "elsewhere/link/index.html"), "home/project/index.html"},
		{"..", ""},
		{"../.ssh/id_rsa", ""},
		{"sub/../../.ssh", ""},
		{project + "/../project2", ""},
		{"/", ""},
		{"/etc/passwd", ""},
		{"/proc/self/environ", ""},
		{"/proc/self/cwd/../../../etc/passwd", ""},
		{"/dev/zero", ""},
		{"~/.ssh", ""},
		{filepath.Join(root, "home"), ""},
		{filepath.Join(root, "home/.ssh/id_rsa"), ""},
		{filepath.Join(root, "elsewhere/secret"), ""},
		{"out", ""},
		{"outside", ""},
		{"outside/secret", ""},
		{"broken", ""},
		{"missing", ""},
		{"index.html\x00.png", ""},
		{"\x00", ""},
		{strings.Repeat("a/", 3000), ""},
	} {
		got, err := Locate(tt.path, p.Folders(nil))
		if tt.want == "" && err == nil || tt.want != "" && got != filepath.Join(root, tt.want) {
			t.Errorf("%.80q is found at %q, error %v", tt.path, got, err)
		}
	}
}

// TestARefusalDoesNotTellWhatIsOutside asks for what is there and what is not.
func TestARefusalDoesNotTellWhatIsOutside(t *testing.T) {
	root, p := tree(t)
	_, there := Locate(filepath.Join(root, "elsewhere/secret"), p.Folders(nil))
	_, missing := Locate(filepath.Join(root, "elsewhere/absent"), p.Folders(nil))
	if there == nil || missing == nil || strings.Replace(there.Error(), "secret", "absent", 1) != missing.Error() {
		t.Errorf("%v, but %v", there, missing)
	}
}

func TestFoldersThatHoldMoreThanAProjectDoNotCount(t *testing.T) {
	root, p := tree(t)
	for _, tt := range []struct {
		dir    string
		counts bool
	}{
		{"home/project", true},
		{"elsewhere", true},
		{"elsewhere/link", true},
		{"home", false},
		{"elsewhere/homelink", false},
		{"", false}, // above the home
		{"home/.ssh", false},
		{"home/.codex", false},
		{"home/Library/App", false},
		{"codex", false},
		{"codex/x", false},
		{"absent", false},
	} {
		dir := filepath.Join(root, tt.dir)
		p.Work = []string{dir}
		if got := len(p.Folders(nil)) == 1; got != tt.counts {
			t.Errorf("as the working folder %q counts: %v", tt.dir, got)
		}
		if got := len(p.Folders([]string{dir})) == 1; got != tt.counts {
			t.Errorf("told by the client %q counts: %v", tt.dir, got)
		}
		p.Work, p.Allowed = nil, []string{dir}
		if got := len(p.Folders(nil)) == 1; got != (tt.dir != "absent") {
			t.Errorf("allowed %q counts: %v", tt.dir, got)
		}
		p.Allowed = nil
	}
	p.Work = []string{"/"}
	if all := p.Folders(nil); len(all) > 0 {
		t.Errorf("the root of the disk counts: %v", all)
	}
	if _, err := Locate("x", nil); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("without a folder: %v", err)
	}
}

// TestTheClientIsAskedForItsFolders has a client that tells one, none, and what is no folder.
func TestTheClientIsAskedForItsFolders(t *testing.T) {
	root, p := tree(t)
	elsewhere := filepath.Join(root, "elsewhere")
	e := newEnv(t, nil)
	e.Places = p
	e.start(t)
	e.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}}`+"\n")
	e.next(t)
	for answer, want := range map[string][]string{
		`"result":{"roots":[{"uri":"file://` + elsewhere + `"},{"uri":"https://example.org/x"}]}`: {elsewhere},
		`"result":{"roots":[{"uri":"file:///"},{"uri":"file://` + root + `/home"}]}`:              nil,
		`"result":{"roots":[]}`:                nil,
		`"result":7`:                           nil,
		`"error":{"code":-32601,"message":""}`: nil,
	} {
		e.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"publish_path","arguments":{"path":"x"}}}`+"\n")
		wantParts(t, e.next(t), `"method":"roots/list"`, `"id":"vitrine-roots"`)
		e.send(t, `{"jsonrpc":"2.0","id":"vitrine-roots",`+answer+"}\n")
		var got struct {
			Result struct{ StructuredContent struct{ Folders []string } }
		}
		line := e.next(t)
		if json.Unmarshal([]byte(line), &got) != nil || !slices.Equal(got.Result.StructuredContent.Folders, want) {
			t.Errorf("told %s, %v count: %s", answer, got.Result.StructuredContent.Folders, line)
		}
	}
	e.end(t)
}
