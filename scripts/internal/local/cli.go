package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"vitrine/scripts/internal/release/archive"
	"vitrine/scripts/internal/release/bucket"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// background is work that nobody waits for until the stack stops.
type background struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func inBackground(ctx context.Context, work func(context.Context)) *background {
	ctx, cancel := context.WithCancel(ctx)
	b := &background{cancel, make(chan struct{})}
	go func() {
		defer close(b.ended)
		work(ctx)
	}()
	return b
}

func (b *background) stop() {
	b.cancel()
	<-b.ended
}

// offerCLI builds the CLI of this tree for this machine and puts it where the app host hands it out. Building takes up to
// a minute if the tree has changed, which the hosts do not wait for.
func (l *local) offerCLI(ctx context.Context) {
	folder := filepath.Join(l.folder.path, "cli")
	here := []release.Platform{{OS: runtime.GOOS, Arch: runtime.GOARCH}}
	err := archive.Make(ctx, folder, contract.Release, here, l.log)
	if err == nil {
		err = bucket.Local(l.engines).Put(ctx, folder, contract.Release)
	}
	switch {
	case ctx.Err() != nil: // the stack stops
	case err != nil:
		fmt.Fprintf(l.log, "the CLI cannot be installed from here: %v\n", err)
	default:
		l.say("install  curl -fsSL %s/install.sh | sh", l.stack.Origins.App)
	}
}
