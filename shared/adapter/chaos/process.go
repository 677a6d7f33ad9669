package chaos

import (
	"context"
	"net/http"
	"sync/atomic"
)

// ErrCrashed is the answer to every call of a crashed process. The SDK does not retry it.
var ErrCrashed error = crashed{}

type crashed struct{}

func (crashed) Error() string        { return "chaos: the process died here" }
func (crashed) RetryableError() bool { return false }

// process is what Crash ends. Goroutines cannot be ended from outside, and a panic would end the
// test. A crashed process is one whose calls have no effect any more and whose answers are lost.
type process struct{ dead atomic.Bool }

func (p *process) isDead() bool { return p.dead.Load() }

type processKey struct{}

// Process returns a context whose calls form a process of their own: Crash ends only these, for
// good.
func Process(ctx context.Context) context.Context {
	return context.WithValue(ctx, processKey{}, new(process))
}

// Died reports whether Crash ended the process of this context.
func Died(ctx context.Context) bool {
	p, ok := ctx.Value(processKey{}).(*process)
	return ok && p.isDead()
}

// Handler makes every request a process of its own. If that crashes, the connection breaks without
// an answer.
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := Process(r.Context())
		h.ServeHTTP(w, r.WithContext(ctx))
		if Died(ctx) {
			panic(http.ErrAbortHandler)
		}
	})
}

// Crash ends the process that makes the call. As a Before action the call is not sent; as an After
// action it had its effect. From then on all calls of the process, those under way and those of
// deferred clean-up included, get ErrCrashed and reach no engine. The process is that of the
// context (Process, Handler), else all calls through the injector, until Revive. A test then
// restarts from what is stored, and not from memory that the crashed process would have lost.
func Crash(ctx context.Context, _ *Call) error {
	ctx.Value(processKey{}).(*process).dead.Store(true)
	return ErrCrashed
}

// Revive lets calls outside of a Process pass again.
func (i *Injector) Revive() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.whole = new(process) // calls that are under way stay crashed
}

func (i *Injector) processOf(ctx context.Context) *process {
	if p, ok := ctx.Value(processKey{}).(*process); ok {
		return p
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.whole
}
