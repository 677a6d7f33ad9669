package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"vitrine/scripts/internal/release/archive"
	"vitrine/scripts/internal/release/bucket"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// startCLI starts offerCLI. Building takes up to a minute if the tree has changed, which the hosts do not wait for.
func (l *local) startCLI(ctx context.Context) {
	ctx, l.endCLI = context.WithCancel(ctx)
	l.cli = async.Go(func() (struct{}, error) {
		l.offerCLI(ctx)
		return struct{}{}, nil
	})
}

// offerCLI builds the CLI of this tree for this machine and puts it where the app host hands it out.
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
