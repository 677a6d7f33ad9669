package assembly

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vitrine/shared/platform/keyring"
)

// older is the file of a set that is older than the ring for assertions.
func older(t *testing.T) (file string, set keyring.Set) {
	t.Helper()
	set = keyring.New()
	whole, err := set.Over(nil)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(whole, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "assertion")
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "rings.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, set
}

func TestRingsAreMadeOnceHoweverManyStart(t *testing.T) {
	for name, file := range map[string]string{
		"a fresh folder": filepath.Join(t.TempDir(), "rings.json"),
		"an older set":   func() string { file, _ := older(t); return file }(),
	} {
		t.Run(name, func(t *testing.T) {
			var all [8]keyring.Set
			var wg sync.WaitGroup
			for i := range all {
				wg.Go(func() {
					var err error
					if all[i], err = LocalRings(file); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, s := range all {
				for _, ring := range keyring.Names() {
					if !bytes.Equal(s.Ring(ring).Keys[0].Secret, all[0].Ring(ring).Keys[0].Secret) {
						t.Errorf("two that started together have different rings %s", ring)
					}
				}
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file has mode %v, %v", info.Mode(), err)
			}
			left, _ := os.ReadDir(filepath.Dir(file))
			if len(left) != 1 {
				t.Errorf("there are %d files, want one", len(left))
			}
		})
	}
}

func TestAnOlderSetKeepsTheRingsThatItHas(t *testing.T) {
	file, before := older(t)
	after, err := LocalRings(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, ring := range []string{"content", "links", "pepper", "seal"} {
		if !bytes.Equal(after.Ring(ring).Keys[0].Secret, before.Ring(ring).Keys[0].Secret) {
			t.Errorf("ring %s changed", ring)
		}
	}
	if len(after.Assertion.Keys) != 1 {
		t.Error("there is no ring for assertions")
	}
}

func TestT79AFileThatCannotBeReadIsNeverReplaced(t *testing.T) {
	good, err := keyring.New().Over(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"half a file":   string(good[:len(good)/2]),
		"nothing":       "",
		"a lost ring":   strings.Replace(string(good), `"pepper"`, `"pepper2"`, 1),
		"no active key": strings.Replace(string(good), `"active": 1`, `"active": 2`, 1),
	} {
		file := filepath.Join(t.TempDir(), "rings.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LocalRings(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v, want a refusal that names the file", name, err)
		}
		if _, err := ChangeRings(file, func(*keyring.Set) error { return nil }); err == nil {
			t.Errorf("%s: the rings can be changed", name)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("%s: the file became %q, %v", name, now, err)
		}
	}
}

func TestAChangeIsWrittenWholeOrNotAtAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rings.json")
	if _, err := ChangeRings(file, func(*keyring.Set) error { return nil }); err == nil || !strings.Contains(err.Error(), "no key rings") {
		t.Errorf("rings that are not there: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a change made the file")
	}
	if _, err := LocalRings(file); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(file)
	refused := errors.New("no")
	if _, err := ChangeRings(file, func(s *keyring.Set) error { s.Seal = keyring.Ring{}; return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if _, err := ChangeRings(file, func(s *keyring.Set) error { s.Seal = keyring.Ring{}; return nil }); err == nil {
		t.Error("T79: a broken ring was written")
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("a change that failed left its traces")
	}
	var changes sync.WaitGroup
	for range 8 { // each sees the one before
		changes.Go(func() {
			if _, err := ChangeRings(link, func(s *keyring.Set) error { s.Links.Keys[0].Secret = append(s.Links.Keys[0].Secret, 1); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	changes.Wait()
	set, err := LocalRings(file)
	if err != nil || len(set.Links.Keys[0].Secret) != 32+8 {
		t.Errorf("%d of 8 changes are there, %v", len(set.Links.Keys[0].Secret)-32, err)
	}
}
