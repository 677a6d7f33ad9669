// Package executable writes programs that a test starts.
package executable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Write writes a program with its folders. No process of this test binary forks meanwhile, because
// a child that inherited the open file would keep the kernel from starting the program ("text file
// busy", golang.org/issue/22315).
func Write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	err := os.WriteFile(file, []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
