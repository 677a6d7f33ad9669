package stripe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/fresh"
)

// mockModule is the program that validates requests. It is no part of go.mod, where its requirements would move ours.
const mockModule = "github.com/stripe/stripe-mock@v0.203.0"

// StartMock starts stripe-mock on a free port of this machine until stop is called. It installs the program where it is
// missing.
func StartMock(ctx context.Context) (url string, stop func(), err error) {
	program, err := installMock(ctx)
	if err != nil {
		return "", nil, err
	}
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	at := free.Addr().String()
	free.Close()
	process := exec.Command(program, "-http-addr", at)
	if err := process.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	stop = func() {
		process.Process.Kill()
		<-ended
	}
	if err := answers(ctx, at, ended); err != nil {
		process.Process.Kill()
		return "", nil, err
	}
	return "http://" + at, stop, nil
}

// answers waits until stripe-mock answers.
func answers(ctx context.Context, at string, ended chan error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			return answer.Body.Close()
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("stripe-mock ended: %w", errors.Join(err, errors.New("it did not answer")))
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// installMock returns the program, which concurrent tests install once.
func installMock(ctx context.Context) (string, error) {
	root, err := engine.Root()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".vitrine", "bin", "stripe-mock@v0.203.0")
	program := filepath.Join(folder, "stripe-mock")
	return program, fresh.Make(ctx, fresh.File{Path: program, Lock: folder + ".lock"}, func() error {
		install := exec.CommandContext(ctx, "go", "install", mockModule)
		install.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=", "GOWORK=off")
		install.Dir = os.TempDir() // outside this module
		if out, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("go install %s: %w: %s", mockModule, err, out)
		}
		return nil
	})
}
