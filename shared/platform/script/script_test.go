package script

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestVersionsAreThoseOfThePackages(t *testing.T) {
	var manifest struct{ DevDependencies map[string]string }
	text, err := os.ReadFile("../../../package.json")
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	for _, p := range programs {
		if err != nil || manifest.DevDependencies[p.Name] != p.Version {
			t.Errorf("%s: %q, want %q (%v)", p.Name, manifest.DevDependencies[p.Name], p.Version, err)
		}
	}
}

func TestFilesAreThoseThatAreServed(t *testing.T) {
	names, err := Files(os.DirFS("../../.."))
	if err != nil || len(names) < 50 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		served := false
		for _, p := range programs {
			if file, within := strings.CutPrefix(name, "node_modules/"+p.Name+"/"); within {
				found, ok := Find(p.folder(), file)
				served = ok && found == name
			}
		}
		if !served {
			t.Errorf("%s is not served", name)
		}
	}
	for _, p := range programs {
		if name, ok := Find(p.folder(), p.entry); !ok || !strings.HasSuffix(p.URL("https://a.test/"), p.folder()+"/"+p.entry) {
			t.Errorf("%s is %q at %s", p.Name, name, p.URL("https://a.test/"))
		}
	}
}

func TestOtherFilesAreNotServed(t *testing.T) {
	for _, c := range [][2]string{
		{"mermaid-12.3.0", "package.json"},
		{"mermaid-12.3.0", "dist/chunks/mermaid.esm.min/elk-VW7CPVO3.mjs"},
		{"mermaid-12.3.0", "dist/chunks/mermaid.esm.min/../../../package.json"},
		{"mermaid-12.3.0", "../aws-cdk/package.json"},
		{"mermaid-12.2.0", "dist/mermaid.esm.min.mjs"},
		{"mermaid", "dist/mermaid.esm.min.mjs"},
		{"..", ".."},
		{"", ""},
	} {
		if name, ok := Find(c[0], c[1]); ok {
			t.Errorf("%v is %s", c, name)
		}
	}
}

func TestAPackageThatIsMissingOrOldIsSaid(t *testing.T) {
	for want, tree := range map[string]fstest.MapFS{
		"mermaid is not installed":       {},
		"mermaid 1.0.0 is installed":     {"node_modules/mermaid/package.json": {Data: []byte(`{"version":"1.0.0"}`)}},
		"mermaid 12.3.0 has no file":     {"node_modules/mermaid/package.json": {Data: []byte(`{"version":"12.3.0"}`)}},
		"mermaid is not installed: run ": {"node_modules/mermaid/package.json": {Data: []byte(`{`)}},
	} {
		if names, err := Files(tree); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", names, err, want)
		}
	}
}
