package engines

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
)

func TestAMissingDynoxideNamesTheCommand(t *testing.T) {
	_, err := findDynoxide(t.TempDir())
	expect.Error(t, err, "npm", EnvDynamoDB)
}

func TestTheLockFileHoldsTheEngineAndNoAddress(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		t.Fatal(err)
	}
	if lock.Packages["node_modules/@dynoxide/linux-x64"].Version == "" {
		t.Error("the engine is not locked")
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("%s names an address: %s", name, p.Resolved)
		}
		if name != "" && p.Integrity == "" {
			t.Errorf("%s has no digest", name)
		}
	}
}

// tinyS3D makes a repository whose S3 engine is one function.
func tinyS3D(t *testing.T, function string) (repository, source string) {
	t.Helper()
	repository = t.TempDir()
	source = filepath.Join(repository, "scripts", "s3d")
	disk.Write(t, source, map[string]string{
		"go.mod":  "module tiny\n\ngo 1.26\n",
		"main.go": "package main\n\n" + function + "\n",
	})
	return repository, source
}

func TestProgramsThatNeedTheSameBuildAtOnceMakeOne(t *testing.T) {
	repository, _ := tinyS3D(t, "func main() {}")
	var printed bytes.Buffer
	log := &sharedWriter{to: &printed}

	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := buildS3D(t.Context(), repository, log); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := strings.Count(printed.String(), "building"); n != 1 {
		t.Errorf("%d builds", n)
	}
}

func TestABuildThatFailsIsQuoted(t *testing.T) {
	repository, source := tinyS3D(t, "func main() { nonsense }")
	_, err := buildS3D(t.Context(), repository, &sharedWriter{})
	expect.Error(t, err, "go build", source, "nonsense")
}
