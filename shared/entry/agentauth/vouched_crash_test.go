package agentauth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/crash"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/id"
)

// route is a request that a process may die in. prepare makes what it needs and returns the request, which may be sent
// again, and what has to be true once it was answered.
type route struct {
	prepare func(w *env, person string) (send func() error, then func())
	// again are the answers of a repetition after the first request took effect.
	again []string
}

var routes = map[string]route{
	"an assertion of a new person": {
		prepare: func(w *env, person string) (func() error, func()) {
			token := w.sign(person, person)
			return func() error { _, err := w.vouch(token); return err }, func() {
				a := w.admitted(person, person)
				if w.works(w.token(a.IdentityAssertion)) == "" {
					w.Error("the next agent is left outside")
				}
			}
		},
		again: []string{"", "replay_detected"},
	},
	"an assertion of a known person": {
		prepare: func(w *env, person string) (func() error, func()) {
			w.admitted(person, person)
			token := w.sign(person, "new-"+person)
			return func() error { _, err := w.vouch(token); return err }, func() { w.admitted(person, "new-"+person) }
		},
		again: []string{"", "replay_detected"},
	},
	"an assertion of a member": {
		prepare: func(w *env, person string) (func() error, func()) {
			by := w.human(person, person)
			token := w.sign(person, person)
			return func() error { _, err := w.vouch(token); return err }, func() {
				w.ok(w.agree(by, w.asked(person, person)))
			}
		},
		again: []string{"interaction_required", "replay_detected"},
	},
	"a code": {
		prepare: func(w *env, person string) (func() error, func()) {
			by := w.human(person, person)
			asked := w.asked(person, person)
			return func() error { return w.agree(by, asked) }, func() {
				got, err := w.poll(asked.ClaimToken)
				w.ok(err)
				if w.works(got.AccessToken) != by.Workspace.ID {
					w.Error("the agent is left outside")
				}
			}
		},
		again: []string{"", "invalid_request"},
	},
	"a poll": {
		prepare: func(w *env, person string) (func() error, func()) {
			by := w.human(person, person)
			asked := w.asked(person, person)
			w.ok(w.agree(by, asked))
			return func() error { _, err := w.poll(asked.ClaimToken); return err }, func() {}
		},
		again: []string{""},
	},
	"an exchange": {
		prepare: func(w *env, person string) (func() error, func()) {
			a := w.admitted(person, person)
			return func() error { _, err := w.exchange(a.IdentityAssertion); return err }, func() {}
		},
		again: []string{""},
	},
	"a revocation": {
		prepare: func(w *env, person string) (func() error, func()) {
			a := w.admitted(person, person)
			access, token := w.token(a.IdentityAssertion), w.revocation(person)
			return func() error { return w.notify(token) }, func() { w.wantDead("revoked", access, a.IdentityAssertion) }
		},
		again: []string{""},
	},
	"the end by a member": {
		prepare: func(w *env, person string) (func() error, func()) {
			by := w.human(person, person)
			_, got := w.agreed(by, person, person)
			return func() error { return w.links.UnlinkProvider(ctx, by, idOf(person)) }, func() {
				w.wantDead("ended", got.AccessToken, got.IdentityAssertion)
			}
		},
		again: []string{"", "not_found"},
	},
	"an answer which agents stay": {
		prepare: func(w *env, person string) (func() error, func()) {
			a := w.admitted(person, person)
			access, d := w.token(a.IdentityAssertion), w.delegation(person)
			q := signin.Question{Who: w.identity(person, person), Member: d.Member, Workspace: d.Workspace}
			s := &signin.Takeovers{Store: w.Stores.Takeovers, Now: w.now}
			return func() error { _, err := s.Answer(ctx, q, []id.Delegation{d.ID()}, ""); return err }, func() {
				w.wantDead("from before the answer", access, a.IdentityAssertion)
				if by := w.human(person, person); by.Workspace.ID != d.Workspace || by.Workspace.Epoch != 1 {
					w.Errorf("the person is in %+v", by.Workspace)
				}
				w.admitted(person, person)
			}
		},
		again: []string{"", "invalid_request"},
	},
}

func TestAProcessThatDiesLeavesNothingHalfDone(t *testing.T) {
	faults := chaos.New()
	w := newEnv(t, faults.Add)
	for name, r := range routes {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			points := w.pointsOf(faults, r)
			if len(points) == 0 {
				t.Fatal("no write")
			}
			for _, p := range points {
				w.dieAt(faults, r, p)
			}
		})
	}
}

func (e *env) newPerson() string {
	e.wait(time.Hour) // past the rate limits
	return strings.ToLower(string(id.NewPublic())) + "@example.org"
}

// pointsOf returns the writes that a request makes.
func (e *env) pointsOf(faults *chaos.Injector, r route) []crash.Point {
	send, _ := r.prepare(e, e.newPerson())
	var err error
	points := crash.Points(faults, func() { err = send() })
	if code := codeOf(err); code != r.again[0] {
		e.Fatal("the request fails by itself", err)
	}
	return points
}

// dieAt lets a request die after a write, sends it again, and checks what is stored.
func (e *env) dieAt(faults *chaos.Injector, r route, p crash.Point) {
	send, then := r.prepare(e, e.newPerson())
	p.Arm(faults)
	lost := send()
	faults.Clear()
	faults.Revive()
	if code := codeOf(lost); slices.Contains(r.again, code) {
		e.Errorf("%s: a process that died answers %q", p, code)
	}
	if code := codeOf(send()); !slices.Contains(r.again, code) {
		e.Errorf("%s: the repetition is answered %q", p, code)
	}
	then()
	for _, wrong := range e.half() {
		e.Errorf("%s: %s", p, wrong)
	}
}

// half returns what is stored without what belongs to it.
func (e *env) half() (wrong []string) {
	items := map[string]map[string]types.AttributeValue{}
	for _, i := range e.Items(e, e.Names.Core) {
		items[at(i, "pk")+" "+at(i, "sk")] = i
	}
	for key, i := range items {
		home := "W#" + at(i, "ws")
		switch {
		case strings.HasPrefix(key, "DEL#") && i["ended"] == nil:
			if items[home+" META"] == nil || items[home+" MEM#"+at(i, "mem")] == nil || i["g1p"] == nil {
				wrong = append(wrong, key+" has no member or no workspace, or is not listed")
			}
		case strings.HasPrefix(key, "EML#"):
			members, _ := i["members"].(*types.AttributeValueMemberSS)
			if members == nil {
				continue
			}
			for _, name := range members.Value {
				ws, m, _ := strings.Cut(name, "#")
				if items["W#"+ws+" MEM#"+m] == nil {
					wrong = append(wrong, key+" names a member who does not exist")
				}
			}
		case strings.HasPrefix(key, "REG#") && at(i, "kind") == "identity_assertion" && at(i, "state") == "verified":
			p := id.DelegationOf(at(i, "iss"), at(i, "sub"), at(i, "aud"))
			if items["DEL#"+string(p)+" D"] == nil {
				wrong = append(wrong, key+" works without a delegation")
			}
		case strings.HasPrefix(key, "K#") && at(i, "term") != "":
			d, _, _ := strings.Cut(at(i, "term"), ".")
			if items["DEL#"+d+" D"] == nil || items["REG#"+at(i, "reg")+" R"] == nil {
				wrong = append(wrong, key+" acts under nothing")
			}
		}
	}
	return wrong
}

// at returns the text of an attribute.
func at(i map[string]types.AttributeValue, name string) string {
	if v, ok := i[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}
