package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/id"
)

const server, other = "https://v.test", "http://localhost:8701"

// None of these tests is parallel, because the library has one keyring for the process.

// open returns a vault in a new folder. Its warnings are appended to warnings.
func open(t *testing.T, warnings *[]string) *Vault {
	t.Helper()
	return &Vault{
		Dir:      filepath.Join(t.TempDir(), "config", "vitrine"),
		Deadline: KeyringTime,
		Warn: func(format string, args ...any) {
			if warnings != nil {
				*warnings = append(*warnings, fmt.Sprintf(format, args...))
			}
		},
	}
}

func without(t *testing.T) { keyring.MockInitWithError(errors.New("no dbus")) }

// login returns a record whose secrets end with the same letter.
func login(server string, letter string) Record {
	tail := strings.Repeat(letter, 40)
	at := time.Date(2027, 2, 19, 9, 0, 0, 0, time.UTC)
	return Record{
		BaseURL:      server,
		APIURL:       server,
		UploadURL:    server + "/up",
		APIKey:       secret.Text("ap_pk_preview_0123456789ABCDEF_" + tail),
		PublicID:     "0123456789ABCDEF",
		KeyID:        "key_00000000000000000000000004",
		WorkspaceID:  id.Workspace("6f1ab1f6-2b0c-4b1f-9b53-0c8d1fd0a001"),
		MemberEmail:  "ada@example.com",
		ExpiresAt:    &at,
		RefreshToken: secret.Text("ap_rt_preview_0123456789ABCDEF_" + tail),
	}
}

func store(t *testing.T, v *Vault, r Record) Place {
	t.Helper()
	place, err := v.Update(t.Context(), r.BaseURL, func(*Record) (*Record, error) { return &r, nil })
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func drop(t *testing.T, v *Vault, server string) {
	t.Helper()
	if _, err := v.Update(t.Context(), server, func(*Record) (*Record, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
}

// wantLogin checks that the vault has just this login for its server.
func wantLogin(t *testing.T, v *Vault, want Record) {
	t.Helper()
	got := v.Load(want.BaseURL)
	if got == nil {
		t.Fatalf("there is no login for %s", want.BaseURL)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("the login is %s, want %s", a, b)
	}
}

func wantNoLogin(t *testing.T, v *Vault, server string) {
	t.Helper()
	if r := v.Load(server); r != nil {
		t.Errorf("there is a login for %s", server)
	}
}

func TestFile(t *testing.T) {
	without(t)
	var warnings []string
	v := open(t, &warnings)
	wantNoLogin(t, v, server)
	drop(t, v, server)
	if place := store(t, v, login(server, "a")); place != File || len(warnings) != 1 ||
		!strings.Contains(warnings[0], v.Path()) {
		t.Errorf("place %s, warnings %q", place, warnings)
	}
	store(t, v, login(other, "b"))
	v = &Vault{Dir: v.Dir, Deadline: v.Deadline, Warn: v.Warn} // as the next command
	store(t, v, login(server, "c"))
	wantLogin(t, v, login(server, "c"))
	wantLogin(t, v, login(other, "b"))
	if len(warnings) != 1 {
		t.Errorf("warned %d times; a login that is in the file has been told of", len(warnings))
	}
	drop(t, v, server)
	wantNoLogin(t, v, server)
	wantLogin(t, v, login(other, "b"))
	drop(t, v, other)
	if _, err := os.Lstat(v.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty file stays: %v", err)
	}
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	without(t)
	v := open(t, nil)
	mode := func(name string) os.FileMode {
		stat, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return stat.Mode().Perm()
	}
	store(t, v, login(server, "a"))
	for range 2 { // as created, and after other users got access
		if f, d := mode(v.Path()), mode(v.Dir); f != 0o600 || d != 0o700 {
			t.Errorf("the file has mode %o, its folder %o", f, d)
		}
		for name, loose := range map[string]os.FileMode{v.Path(): 0o644, v.Dir: 0o755} {
			if err := os.Chmod(name, loose); err != nil {
				t.Fatal(err)
			}
		}
		if v.Load(server); mode(v.Path()) != 0o600 {
			t.Error("reading leaves the file open to others")
		}
		store(t, v, login(server, "b"))
	}
	names, err := os.ReadDir(v.Dir)
	if err != nil || len(names) != 2 {
		t.Errorf("the folder holds %v (%v), want the file and its lock", names, err)
	}
}

func TestLinksAreRefused(t *testing.T) {
	without(t)
	for _, tt := range []string{"the file", "the folder"} {
		t.Run(tt, func(t *testing.T) {
			v, elsewhere := open(t, nil), open(t, nil)
			store(t, elsewhere, login(server, "a"))
			from, to := v.Path(), elsewhere.Path()
			if tt == "the folder" {
				from, to = v.Dir, elsewhere.Dir
			}
			if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, from); err != nil {
				t.Fatal(err)
			}
			wantNoLogin(t, v, server)
			r := login(server, "b")
			_, err := v.Update(t.Context(), server, func(*Record) (*Record, error) { return &r, nil })
			if !failure.IsCode(err, failure.Unstorable) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("error %v", err)
			}
			wantLogin(t, elsewhere, login(server, "a"))
		})
	}
}

func TestWhatIsNoRecordIsNoCredential(t *testing.T) {
	without(t)
	good, err := json.Marshal(login(server, "a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": ``, "no JSON": `{"api_key`, "null": `null`, "a list": `[]`, "a string": `"x"`, "an empty object": `{}`,
		"another server": strings.Replace(string(good), `"base_url":"https://v.test"`, `"base_url":"https://w.test"`, 1),
		"no hosts":       strings.Replace(string(good), `"api_url":"https://v.test"`, `"api_url":""`, 1),
		"another kind":   strings.Replace(string(good), "ap_pk_", "ap_at_", 1),
		"another public id": strings.Replace(string(good), `"public_id":"0123456789ABCDEF"`,
			`"public_id":"FEDCBA9876543210"`, 1),
		"a bad refresh token": strings.Replace(string(good), "ap_rt_", "ap_pk_", 1),
		"a bad expiry":        strings.Replace(string(good), "2027-02-19T09:00:00Z", "tomorrow", 1),
	} {
		if read([]byte(text), server) != nil {
			t.Errorf("%s counts as a credential", name)
		}
		v := open(t, nil)
		if err := os.MkdirAll(v.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{text, `{"credentials":{"https://v.test":` + text + `}}`} {
			if err := os.WriteFile(v.Path(), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			wantNoLogin(t, v, server)
			store(t, v, login(server, "b")) // a login repairs it
			wantLogin(t, v, login(server, "b"))
		}
	}
	if read(good, server) == nil {
		t.Error("a good record is none")
	}
}

func TestFileKeepsWhatItDoesNotKnow(t *testing.T) {
	without(t)
	v := open(t, nil)
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v.Path(), []byte(`{"credentials":{"https://new.test":{"form":7}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	store(t, v, login(server, "a"))
	drop(t, v, server)
	if text, err := os.ReadFile(v.Path()); err != nil || !strings.Contains(string(text), `"form": 7`) {
		t.Errorf("the file holds %s (%v)", text, err)
	}
}

func TestNoPlaceAtAll(t *testing.T) {
	without(t)
	v := open(t, nil)
	v.Dir = ""
	wantNoLogin(t, v, server)
	r := login(server, "a")
	_, err := v.Update(t.Context(), server, func(*Record) (*Record, error) { return &r, nil })
	if !failure.IsCode(err, failure.Unstorable) {
		t.Errorf("error %v", err)
	}
}

func TestKeyring(t *testing.T) {
	keyring.MockInit()
	var warnings []string
	v := open(t, &warnings)
	if place := store(t, v, login(server, "a")); place != Keyring {
		t.Errorf("kept in the %s", place)
	}
	store(t, v, login(other, "b"))
	if _, err := os.Lstat(v.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file beside the keyring: %v", err)
	}
	wantLogin(t, v, login(server, "a"))
	wantLogin(t, v, login(other, "b"))
	drop(t, v, server)
	wantNoLogin(t, v, server)
	if _, err := keyring.Get(service, server); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("the keyring still has it: %v", err)
	}
	wantLogin(t, v, login(other, "b"))
	if len(warnings) != 0 {
		t.Errorf("warned %q", warnings)
	}
}

// TestKeyringComesAndGoes alternates between both places: the newest login counts, and no older copy of it stays.
func TestKeyringComesAndGoes(t *testing.T) {
	without(t)
	v := open(t, nil)
	store(t, v, login(server, "a"))
	store(t, v, login(other, "x"))
	keyring.MockInit()
	if place := store(t, v, login(server, "b")); place != Keyring {
		t.Errorf("kept in the %s", place)
	}
	if text, err := os.ReadFile(v.Path()); err != nil || strings.Contains(string(text), server) ||
		!strings.Contains(string(text), other) {
		t.Errorf("the file holds %s (%v)", text, err)
	}
	wantLogin(t, v, login(server, "b"))

	if err := v.write(server, mustJSON(t, login(server, "c"))); err != nil { // as a save without keyring leaves it
		t.Fatal(err)
	}
	wantLogin(t, v, login(server, "c"))
	drop(t, v, server)
	wantNoLogin(t, v, server)
}

func mustJSON(t *testing.T, r Record) []byte {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFolder(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"XDG_CONFIG_HOME=/x HOME=/home/ada", "/x/vitrine"},
		{"XDG_CONFIG_HOME=relative HOME=/home/ada", "/home/ada/.config/vitrine"},
		{"HOME=/home/ada", "/home/ada/.config/vitrine"},
		{"USERPROFILE=/users/ada", "/users/ada/.config/vitrine"},
		{"HOME=ada", ""},
		{"", ""},
	} {
		got := Folder(func(name string) string {
			for pair := range strings.FieldsSeq(tt.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if got != filepath.FromSlash(tt.want) {
			t.Errorf("with %q the folder is %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestExpired(t *testing.T) {
	r := login(server, "a")
	for seconds, want := range map[int]bool{-1: false, 0: true, 1: true} {
		if got := r.Expired(r.ExpiresAt.Add(time.Duration(seconds) * time.Second)); got != want {
			t.Errorf("%d s after the end: expired %v", seconds, got)
		}
	}
	if r.ExpiresAt = nil; r.Expired(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("a key without an end ends")
	}
}
