package chaos

import (
	"context"
	"net/http"
	"sync/atomic"
)

// ErrCrashed is the answer to every call of a process that died. The SDK does not retry it.
var ErrCrashed error = crashed{}

type crashed struct{}

func (crashed) Error() string        { return "chaos: the process died here" }
func (crashed) RetryableError() bool { return false }

// process is what Crash ends. Goroutines cannot be ended from outside, and a panic would take the test along. What makes
// a process dead for the world is that nothing it does has an effect any more, and that nobody hears its answer.
type process struct{ dead atomic.Bool }

func (p *process) isDead() bool { return p.dead.Load() }

type processKey struct{}

// Process returns a context whose calls are a process of their own: Crash ends these alone, and for good.
func Process(ctx context.Context) context.Context {
	return context.WithValue(ctx, processKey{}, new(process))
}

// Died tells whether Crash ended the process of this context.
func Died(ctx context.Context) bool {
	p, ok := ctx.Value(processKey{}).(*process)
	return ok && p.isDead()
}

// Handler makes every request a process of its own. One that died gets no answer: its connection breaks.
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := Process(r.Context())
		h.ServeHTTP(w, r.WithContext(ctx))
		if Died(ctx) {
			panic(http.ErrAbortHandler)
		}
	})
}

// Crash ends the process that makes the call: Before, nothing is sent any more; After, the call had its effect. From
// then on all its calls, those under way and those of deferred clean-up included, get ErrCrashed and reach no engine. The
// process is that of the context (Process, Handler), else everything that goes through the injector, until Revive.
// A test then starts anew from what is stored, and not from memory that the dead process would have lost.
func Crash(ctx context.Context, _ *Call) error {
	ctx.Value(processKey{}).(*process).dead.Store(true)
	return ErrCrashed
}

// Revive lets the calls pass again that belong to no Process.
func (i *Injector) Revive() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.whole = new(process) // what the dead one still has under way stays dead
}

func (i *Injector) processOf(ctx context.Context) *process {
	if p, ok := ctx.Value(processKey{}).(*process); ok {
		return p
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.whole
}
