package executable

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A plain os.WriteFile fails here on most runs.
func TestAProgramStartsAtOnceWhileOthersFork(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := range 40 {
				file := filepath.Join(folder, "bin", fmt.Sprintf("%d-%d", worker, n))
				Write(t, file, "#!/bin/sh\nexit 0\n")
				if err := exec.CommandContext(t.Context(), file).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
