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

func (o *town) hour() time.Time { return o.now().Add(time.Hour) }

func (o *town) agentOf(s *subject, text string) *vouchedAgent {
	in := o.homes[s.email]
	a := &vouchedAgent{
		of:    s,
		in:    in,
		term:  s.term,
		epoch: in.epoch,
		end:   o.hour(),
		text:  text,
	}
	o.agents = append(o.agents, a)
	return a
}

// vouch sends an assertion.
func (o *town) vouch(s *subject) (want string, err error) {
	before := s.term
	a, err := o.env.vouch(o.sign(s.name, s.email))
	switch {
	case s.live:
	case o.homes[s.email] == nil:
		s.live, s.term = true, s.term+1
		o.homes[s.email] = &home{id: o.workspaceOf(s)}
	default:
		if answer, ok := interaction(err); ok {
			o.asked = append(o.asked, &step{
				of:     s,
				before: before,
				answer: answer,
				end:    o.now().Add(10 * time.Minute),
				last:   -1,
			})
		}
		return "interaction_required", err
	}
	if err == nil {
		o.agentOf(s, a.IdentityAssertion)
	}
	return "", err
}

// workspaceOf reads where the agents of a person work; nowhere if none were let in.
func (o *town) workspaceOf(s *subject) id.Workspace {
	d, err := o.Stores.Delegations.Delegation(ctx, idOf(s.name))
	o.ok(err)
	if d == nil {
		return ""
	}
	return d.Workspace
}

func (o *town) exchange(a *vouchedAgent) (want string, err error) {
	got, err := o.env.exchange(a.text)
	switch now := o.now(); {
	case !now.Before(a.end.Add(time.Minute)):
		return "invalid_grant", err
	case !now.Before(a.end):
		return "expired_token", err
	case !a.holds():
		return "invalid_grant", err
	}
	a.exchanges++
	o.secrets = append(o.secrets, issued{
		secret: got.AccessToken,
		agent:  a,
		home:   a.in,
		end:    a.end,
	})
	return "", err
}

// answer types a code, the right one or not.
func (o *town) answer(p *step, right bool) (want string, err error) {
	in := o.homes[p.of.email]
	code := p.answer.Claim.UserCode
	if !right {
		code = otherCode(code)
	}
	if in.owner == nil {
		return "", nil
	}
	err = o.complete(*in.owner, attemptOf(p.answer.Claim), code)
	switch {
	case p.agent != nil || p.wrong == 5 || !o.now().Before(p.end):
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
	p.agent, p.done = o.agentOf(p.of, ""), o.now()
	return "", err
}

func (o *town) redeem(p *step) (want string, err error) {
	got, err := o.poll(p.answer.ClaimToken)
	now := o.now()
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
		o.secrets[p.last].dead = true
	}
	p.last, p.agent.text = len(o.secrets), got.IdentityAssertion
	o.secrets = append(o.secrets, issued{
		secret: got.AccessToken,
		agent:  p.agent,
		home:   p.agent.in,
		end:    p.agent.end,
	})
	return "", err
}

// signIn brings the person of an address, who keeps each agent or not.
func (o *town) signIn(s *subject) {
	in := o.homes[s.email]
	switch {
	case in == nil:
		by := o.human(s.email, s.email)
		o.homes[s.email] = &home{id: by.Workspace.ID, owner: &by}
	case in.owner == nil:
		var keep []id.Delegation
		for _, other := range o.subjects {
			if other.email != s.email || !other.live {
				continue
			}
			other.term++
			if other.live = o.random.IntN(2) == 0; other.live {
				keep = append(keep, idOf(other.name))
			}
		}
		by := o.takeOver(s.email, s.email, keep...)
		in.epoch++
		in.owner = &by
	default:
		by := o.human(s.email, s.email)
		in.owner = &by
	}
}

func (o *town) unlink(s *subject) (want string, err error) {
	in := o.homes[s.email]
	if in == nil || in.owner == nil {
		return "", nil
	}
	err = o.links.UnlinkProvider(ctx, *in.owner, idOf(s.name))
	if !s.live {
		return "not_found", err
	}
	s.live, s.term = false, s.term+1
	return "", err
}

// anonymous registers an agent without a provider, which the owner of a home claims.
func (o *town) anonymous(in *home) {
	if in == nil || in.owner == nil {
		return
	}
	a := o.agent()
	before := o.token(a.IdentityAssertion)
	s := o.start(a.ClaimToken)
	o.ok(o.complete(*in.owner, s.AttemptToken, s.UserCode))
	got, err := o.poll(a.ClaimToken)
	o.ok(err)
	o.wantDead("before its claim", before, a.IdentityAssertion)
	o.secrets = append(o.secrets, issued{secret: got.AccessToken, home: in, end: o.hour()})
}

// act runs one random event, and returns what it was and what is wrong with the answer.
func (o *town) act() (what, wrong string) {
	o.wait(time.Duration(5+o.random.IntN(200)) * time.Second)
	s := o.subjects[o.random.IntN(len(o.subjects))]
	var err error
	var want string
	switch n := o.random.IntN(20); {
	case n < 5:
		what = "vouch " + s.name
		want, err = o.vouch(s)
	case n < 8 && len(o.agents) > 0:
		a := o.agents[o.random.IntN(len(o.agents))]
		if a.text == "" || a.exchanges > 7 {
			return "none", ""
		}
		what = "exchange of " + a.of.name
		want, err = o.exchange(a)
	case n < 14 && len(o.asked) > 0:
		p := o.asked[max(0, len(o.asked)-1-o.random.IntN(3))]
		what = "step up of " + p.of.name
		if o.random.IntN(2) == 0 {
			want, err = o.redeem(p)
		} else {
			want, err = o.answer(p, o.random.IntN(3) > 0)
		}
	case n < 16:
		what = "revoke " + s.name
		err = o.notify(o.revocation(s.name))
		s.live, s.term = false, s.term+1
	case n == 16:
		what = "unlink " + s.name
		want, err = o.unlink(s)
	case n == 17 && o.random.IntN(3) == 0:
		what = "sign in " + s.email
		o.signIn(s)
	case n == 18:
		what = "anonymous"
		o.anonymous(o.homes[s.email])
	}
	if got := codeOf(err); got != want {
		wrong = fmt.Sprintf("answers %q (%v), want %q", got, err, want)
	}
	return what, wrong
}

// check looks at the newest tokens and at some others.
func (o *town) check() string {
	for range min(4, len(o.secrets)) {
		n := len(o.secrets) - 1 - o.random.IntN(min(12, len(o.secrets)))
		i, want := o.secrets[n], id.Workspace("")
		if !i.dead && o.now().Before(i.end) && (i.agent == nil || i.agent.holds()) {
			want = i.home.id
		}
		if got := o.works(i.secret); got != want {
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
