package upgrade

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
