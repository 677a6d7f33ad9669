package harness

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"

	"vitrine/scripts/testkit/engine"
)

// BuildProgram builds a command of this repository and returns the program. It looks at every source, folders and files
// of the repository, because the test cache otherwise keeps results of tests whose program has changed since.
func BuildProgram(name, command string, sources ...string) (string, error) {
	root, err := engine.Root()
	if err != nil {
		return "", err
	}
	for _, source := range append(sources, "go.mod", "go.sum") {
		err := filepath.WalkDir(filepath.Join(root, source), func(_ string, d fs.DirEntry, err error) error {
			if err == nil {
				_, err = d.Info()
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	program := filepath.Join(root, ".vitrine", "bin", name)
	build := exec.Command("go", "build", "-o", program, command)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}
