package config

import (
	"os"
	"path/filepath"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

func want(t *testing.T, f File, name, value string) {
	t.Helper()
	if got, err := f.Get(name); got != value || err != nil {
		t.Errorf("%s is %q, %v; want %q", name, got, err, value)
	}
}

func TestASettingIsKeptUntilItIsRemoved(t *testing.T) {
	f := File{filepath.Join(t.TempDir(), "config", "vitrine")}
	want(t, f, "url", "")
	for _, value := range []string{"https://one.test", "https://two.test/a\"b"} {
		if err := f.Set("url", value); err != nil {
			t.Fatal(err)
		}
		want(t, f, "url", value)
	}
	if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := f.Set("url", ""); err != nil {
		t.Fatal(err)
	}
	want(t, f, "url", "")
	if left, _ := filepath.Glob(filepath.Join(f.Dir, "*")); len(left) != 1 {
		t.Errorf("left in the folder: %q", left)
	}
}

func TestSettingsOfOtherVersionsArePreserved(t *testing.T) {
	f := File{t.TempDir()}
	write(t, f, `{"later": {"deep": [1]}, "url": "https://one.test"}`)
	if err := f.Set("color", "never"); err != nil {
		t.Fatal(err)
	}
	const after = "{\n  \"color\": \"never\",\n  \"later\": {\n    \"deep\": [\n      1\n    ]\n  },\n" +
		"  \"url\": \"https://one.test\"\n}\n"
	if text, err := os.ReadFile(f.Path()); err != nil || string(text) != after {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAFileOfAnotherFormIsReportedAndNotReplaced(t *testing.T) {
	for _, text := range []string{"", "url = x", `["url"]`, `{"url": 7}`} {
		f := File{t.TempDir()}
		write(t, f, text)
		if _, err := f.Get("url"); !failure.IsCode(err, failure.Unsettable) {
			t.Errorf("%q: %v", text, err)
		}
		if err := f.Set("color", "never"); err == nil && text != `{"url": 7}` {
			t.Errorf("%q was replaced", text)
		}
	}
	f := File{t.TempDir()}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := f.Set("url", "https://one.test"); !failure.IsCode(err, failure.Unsettable) {
		t.Errorf("a link was replaced: %v", err)
	}
}

func TestWithoutAFolderNothingIsSet(t *testing.T) {
	f := File{}
	want(t, f, "url", "")
	if err := f.Set("url", "https://one.test"); !failure.IsCode(err, failure.Unsettable) {
		t.Error(err)
	}
	if f.Path() != "" {
		t.Error(f.Path())
	}
}

func write(t *testing.T, f File, text string) {
	t.Helper()
	if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
