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

// closeTimeout is how long the removal of all worktrees may take.
const closeTimeout = time.Minute

// Folder holds worktrees until it is closed. One process at a time has it.
type Folder struct {
	repository Repository
	path       string
	lock       *os.File
}

// Open takes the folder .vitrine/against of the working tree. It removes what a process has left there that was killed.
func (r Repository) Open(ctx context.Context) (*Folder, error) {
	f := &Folder{repository: r, path: filepath.Join(r.Root, ".vitrine", "against")}
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(f.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another process compares commits in %s: wait for its end", f.path)
	}
	if err == nil {
		err = f.clear(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.lock = lock
	return f, nil
}

// Add checks a commit out and gives it the npm packages of the working tree, which hold the DynamoDB engine. It returns
// the same worktree for the same commit.
func (f *Folder) Add(ctx context.Context, c Commit) (Tree, error) {
	t := Tree{Dir: filepath.Join(f.path, string(c))}
	if _, err := os.Stat(t.Dir); err == nil {
		return t, nil
	}
	// Forced, because git may still know a worktree here that is gone.
	if _, err := f.repository.git(ctx, "worktree", "add", "--force", "--detach", t.Dir, string(c)); err != nil {
		return t, err
	}
	return t, f.linkPackages(filepath.Join(t.Dir, "node_modules"))
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

// Temporary makes a folder for temporary files, which goes with the worktrees.
func (f *Folder) Temporary() (string, error) { return os.MkdirTemp(f.path, "temporary-") }

// Close removes all worktrees, whether or not ctx has ended, and gives the folder back.
func (f *Folder) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(f.clear(ctx), f.lock.Close())
}

func (f *Folder) clear(ctx context.Context) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, f.remove(ctx, filepath.Join(f.path, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// remove removes a worktree, or a folder that never became one.
func (f *Folder) remove(ctx context.Context, dir string) error {
	if _, err := f.repository.git(ctx, "worktree", "remove", "--force", "--force", dir); err == nil {
		return nil
	}
	return os.RemoveAll(dir)
}
