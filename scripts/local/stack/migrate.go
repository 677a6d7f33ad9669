package stack

import (
	"context"
	"log/slog"
	"time"

	"vitrine/shared/boot"
	"vitrine/shared/claim"
	"vitrine/shared/keyring"
)

// movesEvery is how often the stack looks for claimed workspaces whose artifacts wait to be moved.
const movesEvery = time.Second

// startMoves moves what was claimed, as the job of a deployment does, until the result is called. Its clients are not
// those of the hosts: Options.Middleware is not in their way.
func (s *Stack) startMoves(ctx context.Context, o Options) (stop func(), err error) {
	c := config(o, s.Origins, keyring.Set{})
	c.Middleware, c.CreateTables = nil, false
	services, err := boot.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		move(ctx, services.Migrator(), o.Log)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// move goes on at once while there is something to move, and says nothing unless it fails.
func move(ctx context.Context, m *claim.Migrator, log *slog.Logger) {
	tick := time.NewTicker(movesEvery)
	defer tick.Stop()
	for {
		more, err := m.Due(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error("what was claimed is not moved yet", "cause", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
