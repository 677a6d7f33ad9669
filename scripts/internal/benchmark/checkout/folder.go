package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// closeTimeout is how long the removal may take.
const closeTimeout = time.Minute

// Folder holds the worktree of a commit until it is closed. One process at a time has it.
type Folder struct {
	Tree      Tree
	Temporary string // a folder for temporary files, which goes with the worktree

	repository Repository
	path       string
	lock       *os.File
}

// Open takes the folder .vitrine/against of the working tree, removes what a killed process has left there, and checks
// a commit out.
func (r Repository) Open(ctx context.Context, c Commit) (*Folder, error) {
	f := &Folder{repository: r, path: filepath.Join(r.Root, ".vitrine", "against")}
	err := os.MkdirAll(f.path, 0o755)
	if err == nil {
		f.lock, err = os.OpenFile(filepath.Join(f.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another process compares commits in %s: wait for its end", f.path)
	}
	if err != nil {
		return nil, errors.Join(err, f.lock.Close())
	}
	if err = f.clear(ctx); err == nil {
		err = f.add(ctx, c)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(ctx))
	}
	return f, nil
}

// add checks a commit out and gives it the npm packages of the working tree, which hold the DynamoDB engine.
func (f *Folder) add(ctx context.Context, c Commit) (err error) {
	if f.Temporary, err = os.MkdirTemp(f.path, "temporary-"); err != nil {
		return err
	}
	f.Tree.Dir = filepath.Join(f.path, string(c))
	// Forced, because git may still know a worktree here that is gone.
	if _, err := f.repository.git(ctx, "worktree", "add", "--force", "--detach", f.Tree.Dir, string(c)); err != nil {
		return err
	}
	return f.linkPackages(filepath.Join(f.Tree.Dir, "node_modules"))
}

// linkPackages makes a folder with a link to each npm package of the working tree, unless the commit has one. The
// folder is no link itself, because `npm ci` in a worktree would then empty that of the working tree.
func (f *Folder) linkPackages(folder string) error {
	from := filepath.Join(f.repository.Root, "node_modules")
	packages, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the stack says what it lacks
	}
	if err == nil {
		err = os.Mkdir(folder, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	for _, p := range packages {
		if err == nil {
			err = os.Symlink(filepath.Join(from, p.Name()), filepath.Join(folder, p.Name()))
		}
	}
	return err
}

// Close removes everything, whether or not ctx has ended, and gives the folder back.
func (f *Folder) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(f.clear(ctx), f.lock.Close())
}

// clear removes worktrees, and folders that never became one.
func (f *Folder) clear(ctx context.Context) error {
	entries, err := os.ReadDir(f.path)
	errs := []error{err}
	for _, e := range entries {
		if dir := filepath.Join(f.path, e.Name()); e.IsDir() {
			if _, err := f.repository.git(ctx, "worktree", "remove", "--force", "--force", dir); err != nil {
				errs = append(errs, os.RemoveAll(dir))
			}
		}
	}
	return errors.Join(errs...)
}
