// Package doctor finds out what keeps the command line from working: between this machine and the deployment, and on
// this machine. It changes no state of either, registers nowhere, and its texts contain no secret.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
)

// State says how a finding counts.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // everything works, or only a part is missing
	Wrong   State = "wrong"
)

// Finding is what a check found. Next is the command or the step that comes next.
type Finding struct {
	Check   string `json:"check"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Next    string `json:"next,omitempty"`
}

// found returns a finding without a next step.
func found(check string, s State, format string, args ...any) Finding {
	return Finding{Check: check, State: s, Message: fmt.Sprintf(format, args...)}
}

// then returns the finding with its next step.
func (f Finding) then(format string, args ...any) Finding {
	f.Next = fmt.Sprintf(format, args...)
	return f
}

// Failed returns the finding for an error of another package.
func Failed(check string, s State, err error) Finding {
	f := failure.Of(err)
	return Finding{Check: check, State: s, Message: f.Message, Next: f.Hint}
}

// Check looks at one thing. It returns no line if that is not there.
type Check func(ctx context.Context) []Finding

// Doctor looks at one machine and the deployment that it uses.
type Doctor struct {
	Caller  *client.Caller
	Server  string // base address; empty: it is not known
	Vault   *vault.Vault
	Env     func(name string) string
	Now     func() time.Time
	Version string // of this program
	// More are checks of other packages. They come last.
	More []Check
}

// checkTime bounds each check.
const checkTime = 15 * time.Second

// examination is one run of all checks, with what the later ones take from the earlier ones.
type examination struct {
	*Doctor
	proxy      string             // that applies to the server, with its variable; empty: none
	first      *http.Response     // of the server; nil: it cannot be reached
	deployment *client.Deployment // nil: the server is none, or cannot be reached
}

// Examine runs all checks, in an order in which a cause comes before its consequences.
func (d *Doctor) Examine(ctx context.Context) (all []Finding) {
	e := &examination{Doctor: d}
	checks := []Check{
		e.checkProxy, e.checkServer, e.checkTLS, e.checkClock, e.checkVersion, e.checkSignIn, e.checkMCP, e.checkStorage,
		e.checkLogin, e.checkSkill,
	}
	for _, check := range append(checks, d.More...) {
		ctx, stop := context.WithTimeout(ctx, checkTime)
		for _, f := range check(ctx) {
			f.Message, f.Next = screen.Scrub(f.Message), screen.Scrub(f.Next)
			all = append(all, f)
		}
		stop()
	}
	return all
}

// Count returns how many findings have a state.
func Count(all []Finding, s State) (n int) {
	for _, f := range all {
		if f.State == s {
			n++
		}
	}
	return n
}
