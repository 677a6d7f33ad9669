package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Tree is a worktree of one commit.
type Tree struct{ Dir string }

// stackFolders are where the main package of the local stack is, or was in older commits.
var stackFolders = []string{"scripts/internal/local", "scripts/local"}

// Stack builds the program of the local stack. An error quotes the compiler. Overlay says which files to replace, as
// Lift returns it; "" replaces none.
func (t Tree) Stack(ctx context.Context, program, overlay string) error {
	folder, err := t.stackFolder()
	if err != nil {
		return err
	}
	// Without the paths of the worktree, packages that are equal in two commits are compiled once.
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", program, "-overlay", overlay, "./" + folder}
	_, err = run(ctx, t.Dir, nil, "go", args...)
	return err
}

func (t Tree) stackFolder() (string, error) {
	for _, folder := range stackFolders {
		if _, err := os.Stat(filepath.Join(t.Dir, folder, "main.go")); err == nil {
			return folder, nil
		}
	}
	return "", errors.New("it has no local stack in " + strings.Join(stackFolders, " or "))
}

// Sizes are the bytes of zip files by function.
type Sizes map[string]int64

// Zips builds all functions for amd64 and returns the sizes of their zip files, also beside an error: older commits
// build functions that are above their budget, and fail then. Temporary files go to a folder that the caller removes.
func (t Tree) Zips(ctx context.Context, temporary string) (Sizes, error) {
	folder, err := os.MkdirTemp(temporary, "zips-")
	if err != nil {
		return nil, err
	}
	program, settings := filepath.Join(t.Dir, "scripts", "build"), []string{"TMPDIR=" + temporary}
	_, failure := run(ctx, t.Dir, settings, program, "-arch", "amd64", "-out", folder)
	files, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	if err != nil {
		return nil, err
	}
	sizes := Sizes{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		sizes[strings.TrimSuffix(filepath.Base(file), ".zip")] = info.Size()
	}
	return sizes, failure
}
