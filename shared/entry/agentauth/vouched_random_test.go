package agentauth_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var seed = flag.Uint64("seed", 0, "of the random events; 0: another one each time")

// town is a model of persons, providers and agents under random events. It shares no code with the service.
type town struct {
	*env
	random   *rand.Rand
	homes    map[string]*home // by address
	subjects []*subject
	agents   []*vouchedAgent
	asked    []*step
	secrets  []issued
	history  []string
}

// home is a workspace of an address.
type home struct {
	id    id.Workspace
	epoch int
	owner *credential.Actor // nil: agents made it, and no person came yet
}

// subject is a person at the provider.
type subject struct {
	name, email string
	live        bool
	term        int // counts up when a delegation is made, kept or ended
}

// vouchedAgent is a registration that works.
type vouchedAgent struct {
	of        *subject
	in        *home
	term      int
	epoch     int
	end       time.Time
	text      string
	exchanges int
}

// step is a registration that waits for a person.
type step struct {
	of     *subject
	before int // term when it was asked for
	answer contract.InteractionRequired
	end    time.Time
	wrong  int
	agent  *vouchedAgent // once the person agreed
	done   time.Time
	polls  int
	last   int // index of the newest redeemed token
}

// issued is an access token.
type issued struct {
	secret string
	agent  *vouchedAgent // nil: of an anonymous registration that was claimed
	home   *home
	end    time.Time
	dead   bool
}

func newTown(w *env, random *rand.Rand) *town {
	w.wait(w.now().Truncate(time.Second).Add(time.Second).Sub(w.now()))
	o := &town{env: w, random: random, homes: map[string]*home{}}
	tag := string(id.NewPublic())
	for n, address := range []string{"new", "new", "member"} {
		o.subjects = append(o.subjects, &subject{
			name:  fmt.Sprint("subject ", n, tag),
			email: strings.ToLower(address + tag + "@example.org"),
		})
	}
	o.signIn(o.subjects[2])
	return o
}

func (a *vouchedAgent) holds() bool {
	return a.of.live && a.of.term == a.term && a.in.epoch == a.epoch
}

func (t *town) hour() time.Time { return t.now().Add(time.Hour) }

func (t *town) agentOf(s *subject, text string) *vouchedAgent {
	in := t.homes[s.email]
	a := &vouchedAgent{
		of:    s,
		in:    in,
		term:  s.term,
		epoch: in.epoch,
		end:   t.hour(),
		text:  text,
	}
	t.agents = append(t.agents, a)
	return a
}

// vouch sends an assertion.
func (t *town) vouch(s *subject) (want string, err error) {
	before := s.term
	a, err := t.env.vouch(t.sign(s.name, s.email))
	switch {
	case s.live:
	case t.homes[s.email] == nil:
		s.live, s.term = true, s.term+1
		t.homes[s.email] = &home{id: t.workspaceOf(s)}
	default:
		if answer, ok := interaction(err); ok {
			t.asked = append(t.asked, &step{
				of:     s,
				before: before,
				answer: answer,
				end:    t.now().Add(10 * time.Minute),
				last:   -1,
			})
		}
		return "interaction_required", err
	}
	if err == nil {
		t.agentOf(s, a.IdentityAssertion)
	}
	return "", err
}

// workspaceOf reads where the agents of a person work; nowhere if none were let in.
func (t *town) workspaceOf(s *subject) id.Workspace {
	d, err := t.Stores.Delegations.Delegation(ctx, idOf(s.name))
	t.ok(err)
	if d == nil {
		return ""
	}
	return d.Workspace
}

func (t *town) exchange(a *vouchedAgent) (want string, err error) {
	got, err := t.env.exchange(a.text)
	switch now := t.now(); {
	case !now.Before(a.end.Add(time.Minute)):
		return "invalid_grant", err
	case !now.Before(a.end):
		return "expired_token", err
	case !a.holds():
		return "invalid_grant", err
	}
	a.exchanges++
	t.secrets = append(t.secrets, issued{
		secret: got.AccessToken,
		agent:  a,
		home:   a.in,
		end:    a.end,
	})
	return "", err
}

// answer types a code, the right one or not.
func (t *town) answer(p *step, right bool) (want string, err error) {
	in := t.homes[p.of.email]
	code := p.answer.Claim.UserCode
	if !right {
		code = otherCode(code)
	}
	if in.owner == nil {
		return "", nil
	}
	err = t.complete(*in.owner, attemptOf(p.answer.Claim), code)
	switch {
	case p.agent != nil || p.wrong == 5 || !t.now().Before(p.end):
		return "invalid_request", err
	case !right:
		p.wrong++
		return "invalid_request", err
	case p.of.live:
	case p.of.term != p.before:
		return "invalid_request", err
	default:
		p.of.live, p.of.term = true, p.of.term+1
	}
	p.agent, p.done = t.agentOf(p.of, ""), t.now()
	return "", err
}

func (t *town) redeem(p *step) (want string, err error) {
	got, err := t.poll(p.answer.ClaimToken)
	now := t.now()
	switch {
	case p.agent == nil && !now.Before(p.end), p.agent != nil && !now.Before(p.agent.end):
		return "expired_token", err
	case p.agent == nil:
		return "authorization_pending", err
	case p.polls == limits.ClaimRedemptions || !now.Before(p.done.Add(10*time.Minute)) || !p.agent.holds():
		return "invalid_grant", err
	}
	p.polls++
	if p.last >= 0 {
		t.secrets[p.last].dead = true
	}
	p.last, p.agent.text = len(t.secrets), got.IdentityAssertion
	t.secrets = append(t.secrets, issued{
		secret: got.AccessToken,
		agent:  p.agent,
		home:   p.agent.in,
		end:    p.agent.end,
	})
	return "", err
}

// signIn brings the person of an address, who keeps each agent or not.
func (t *town) signIn(s *subject) {
	in := t.homes[s.email]
	switch {
	case in == nil:
		by := t.human(s.email, s.email)
		t.homes[s.email] = &home{id: by.Workspace.ID, owner: &by}
	case in.owner == nil:
		var keep []id.Delegation
		for _, other := range t.subjects {
			if other.email != s.email || !other.live {
				continue
			}
			other.term++
			if other.live = t.random.IntN(2) == 0; other.live {
				keep = append(keep, idOf(other.name))
			}
		}
		by := t.takeOver(s.email, s.email, keep...)
		in.epoch++
		in.owner = &by
	default:
		by := t.human(s.email, s.email)
		in.owner = &by
	}
}

func (t *town) unlink(s *subject) (want string, err error) {
	in := t.homes[s.email]
	if in == nil || in.owner == nil {
		return "", nil
	}
	err = t.links.UnlinkProvider(ctx, *in.owner, idOf(s.name))
	if !s.live {
		return "not_found", err
	}
	s.live, s.term = false, s.term+1
	return "", err
}

// anonymous registers an agent without a provider, which the owner of a home claims.
func (t *town) anonymous(in *home) {
	if in == nil || in.owner == nil {
		return
	}
	a := t.agent()
	before := t.token(a.IdentityAssertion)
	s := t.start(a.ClaimToken)
	t.ok(t.complete(*in.owner, s.AttemptToken, s.UserCode))
	got, err := t.poll(a.ClaimToken)
	t.ok(err)
	t.wantDead("before its claim", before, a.IdentityAssertion)
	t.secrets = append(t.secrets, issued{secret: got.AccessToken, home: in, end: t.hour()})
}

// act runs one random event, and returns what it was and what is wrong with the answer.
func (t *town) act() (what, wrong string) {
	t.wait(time.Duration(5+t.random.IntN(200)) * time.Second)
	s := t.subjects[t.random.IntN(len(t.subjects))]
	var err error
	var want string
	switch n := t.random.IntN(20); {
	case n < 5:
		what = "vouch " + s.name
		want, err = t.vouch(s)
	case n < 8 && len(t.agents) > 0:
		a := t.agents[t.random.IntN(len(t.agents))]
		if a.text == "" || a.exchanges > 7 {
			return "none", ""
		}
		what = "exchange of " + a.of.name
		want, err = t.exchange(a)
	case n < 14 && len(t.asked) > 0:
		p := t.asked[max(0, len(t.asked)-1-t.random.IntN(3))]
		what = "step up of " + p.of.name
		if t.random.IntN(2) == 0 {
			want, err = t.redeem(p)
		} else {
			want, err = t.answer(p, t.random.IntN(3) > 0)
		}
	case n < 16:
		what = "revoke " + s.name
		err = t.notify(t.revocation(s.name))
		s.live, s.term = false, s.term+1
	case n == 16:
		what = "unlink " + s.name
		want, err = t.unlink(s)
	case n == 17 && t.random.IntN(3) == 0:
		what = "sign in " + s.email
		t.signIn(s)
	case n == 18:
		what = "anonymous"
		t.anonymous(t.homes[s.email])
	}
	if got := codeOf(err); got != want {
		wrong = fmt.Sprintf("answers %q (%v), want %q", got, err, want)
	}
	return what, wrong
}

// check looks at the newest tokens and at some others.
func (t *town) check() string {
	for range min(4, len(t.secrets)) {
		n := len(t.secrets) - 1 - t.random.IntN(min(12, len(t.secrets)))
		i, want := t.secrets[n], id.Workspace("")
		if !i.dead && t.now().Before(i.end) && (i.agent == nil || i.agent.holds()) {
			want = i.home.id
		}
		if got := t.works(i.secret); got != want {
			return fmt.Sprintf("token %d works in %q, want %q", n, got, want)
		}
	}
	return ""
}

func TestRandomEventsOfProvidersAreAnsweredAsTheModelSays(t *testing.T) {
	use := *seed
	if use == 0 {
		use = rand.Uint64()
	}
	w := newEnv(t)
	w.limits.WrongCode.Limit = 1_000_000
	for _, r := range []*limits.Rate{&w.limits.Vouched, &w.limits.Assertion, &w.limits.Assertions, &w.limits.Event} {
		r.Limit = 1_000_000
	}
	random := rand.New(rand.NewPCG(use, use))
	began := time.Now()
	for towns := 0; towns < 12 && time.Since(began) < 3*time.Second; towns++ {
		o := newTown(w, random)
		for range 120 {
			what, wrong := o.act()
			o.history = append(o.history, what)
			if wrong == "" {
				wrong = o.check()
			}
			if wrong != "" || t.Failed() {
				t.Fatalf("-seed %d, event %d: %s\n%s", use, len(o.history), wrong, strings.Join(o.history, "\n"))
			}
		}
	}
}
