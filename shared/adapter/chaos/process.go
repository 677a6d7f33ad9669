package chaos

import (
	"context"
	"net/http"
	"sync/atomic"
)

// ErrCrashed answers every call of a crashed process. The SDK does not retry it.
var ErrCrashed error = crashed{}

type crashed struct{}

func (crashed) Error() string        { return "chaos: the process died here" }
func (crashed) RetryableError() bool { return false }

// process stands for an operating system process that Crash ends. Goroutines cannot be ended from outside, and a panic
// would end the test. So the calls of a crashed process have no effect any more, and their answers are lost.
type process struct{ dead atomic.Bool }

func (p *process) isDead() bool { return p.dead.Load() }

type processKey struct{}

// Process returns a context whose calls form a process of their own. Crash then ends these calls only, and for good.
func Process(ctx context.Context) context.Context {
	return context.WithValue(ctx, processKey{}, new(process))
}

// Died reports whether Crash ended the process of this context.
func Died(ctx context.Context) bool {
	p, ok := ctx.Value(processKey{}).(*process)
	return ok && p.isDead()
}

// Handler makes every request a process of its own. If that process crashes, the connection breaks without an answer.
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := Process(r.Context())
		h.ServeHTTP(w, r.WithContext(ctx))
		if Died(ctx) {
			panic(http.ErrAbortHandler)
		}
	})
}

// Crash ends the process that makes the call. As a Before action, the call is not sent; as an After action, it took
// effect. From then on all calls of the process get ErrCrashed and reach no engine. That includes calls under way and
// those of deferred clean-up. The process is that of the context (Process, Handler), or else all calls through the
// injector until Revive. The test then goes on from what is stored, without the memory that a crashed process loses.
func Crash(ctx context.Context, _ *Call) error {
	ctx.Value(processKey{}).(*process).dead.Store(true)
	return ErrCrashed
}

// Revive lets calls outside of a Process through again.
func (i *Injector) Revive() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.whole = new(process) // calls under way keep the old process, so they stay crashed
}

func (i *Injector) processOf(ctx context.Context) *process {
	if p, ok := ctx.Value(processKey{}).(*process); ok {
		return p
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.whole
}
