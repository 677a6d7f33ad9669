package release

import (
	"archive/zip"
	"bytes"
	"testing"
)

func TestProgramOfAZip(t *testing.T) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range []string{"LICENSE", "vitrine.exe"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("this is " + name))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	program, err := Unpack("vitrine_0.2.0_windows_amd64.zip", archive.Bytes())
	if err != nil || string(program) != "this is vitrine.exe" {
		t.Errorf("%q, %v", program, err)
	}
	for name, body := range map[string][]byte{"a.zip": archive.Bytes()[:9], "a.tar.gz": []byte("no gzip"), "b.tar.gz": nil} {
		if _, err := Unpack(name, body); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
}

func TestManagersArePackageManagers(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/bin/vitrine":                         "the package manager of the system",
		"/opt/homebrew/Cellar/vitrine/1/vitrine":   "Homebrew",
		"/home/a/.local/bin/vitrine":               "",
		"/usr/local/bin/vitrine":                   "",
		"/home/a/.nvm/lib/node_modules/b/vitrine":  "npm",
		"/nix/store/abc-vitrine-0.2.0/bin/vitrine": "Nix",
	} {
		if got := Manager(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string][2]bool{ // is a version, is a development build
		"0.2.0": {true, false}, "0.2.0-dev": {true, true}, "1.0.0-rc.1": {true, false}, "v0.2.0": {false, true},
		"0.2": {false, true}, "": {false, true}, "../1.0.0": {false, true},
	} {
		if got := [2]bool{IsVersion(text), IsDevelopment(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if !IsNewer("0.10.0", "0.9.1") || IsNewer("0.2.0", "0.2.0") || !IsNewer("0.2.0", "0.2.0-dev") {
		t.Error("versions are compared in another order")
	}
}
