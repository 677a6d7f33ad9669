package agentauth_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var seed = flag.Uint64("seed", 0, "of the random events; 0: another one each time")

// play is one random event with its choices.
type play struct {
	kind    string
	attempt int  // whose token is sent; -1: the claim token
	right   bool // the code is that of the newest attempt
	by      int  // index of the person
	text    int  // index of the assertion
}

// oracle predicts the answers for one registration. It is a table over a log of events, and shares no code with the
// state machine.
type oracle struct {
	play
	now, born, end     time.Time
	phase              string // unclaimed, pending, verified or revoked
	locked, denied     bool
	attempts           []time.Time // start of each attempt
	tries, wrong       int         // of the newest attempt; of all attempts
	startSince         time.Time
	startCount         int
	trade              time.Time // start of the window of exchanges
	trades, generation int
	texts              []int         // the generation of each assertion
	level              time.Duration // of the poll bucket, as the time that it holds
	polled             time.Time
	done               time.Time // time of the claim
	redeemed, owner    int
	taken              bool // by the claim token alone
	last               int  // the key of the newest redemption
	keys               []token
	held               []int          // keys on record, oldest first
	used               map[string]int // rules
}

// token is an issued access token.
type token struct {
	secret string
	home   id.Workspace
	until  time.Time
	dead   bool
}

type rule struct {
	when   func(*oracle) bool
	answer string
	then   func(*oracle)
}

func always(*oracle) bool { return true }

func nothing(*oracle) {}

func (o *oracle) over() bool { return !o.now.Before(o.end) }

func settled(o *oracle) bool { return o.phase == "verified" || o.phase == "revoked" }

func (o *oracle) newest() bool { return o.attempt == len(o.attempts)-1 }

// deaf reports that the presented attempt cannot be answered any more.
func deaf(o *oracle) bool {
	return o.phase != "pending" || o.over() || o.locked || (o.attempt >= 0 && !o.newest()) || o.tries >= 5 ||
		!o.now.Before(o.attempts[len(o.attempts)-1].Add(10*time.Minute))
}

func (o *oracle) drain() {
	o.level = min(25*time.Second, o.level+o.now.Sub(o.polled)) - 5*time.Second
	o.polled, o.denied = o.now, false
}

func (o *oracle) claimedBy() {
	o.phase = "verified"
	o.done = o.now
	o.owner = o.by
	o.held = nil
	o.generation++
	for n := range o.keys {
		o.keys[n].dead = true
	}
}

func (o *oracle) hold() {
	o.held = append(o.held, len(o.keys))
	if len(o.held) > 10 {
		o.keys[o.held[0]].dead = true
		o.held = o.held[1:]
	}
}

var table = map[string][]rule{
	"start": {
		{settled, "expired_token", nothing},
		{(*oracle).over, "expired_token", nothing},
		{func(o *oracle) bool { return o.locked }, "access_denied", nothing},
		{func(o *oracle) bool { return len(o.attempts) == 20 }, "access_denied", func(o *oracle) { o.locked = true }},
		{func(o *oracle) bool { return o.startCount == 5 && o.now.Before(o.startSince.Add(10*time.Minute)) }, "slow_down",
			nothing},
		{always, "", func(o *oracle) {
			if o.startCount == 0 || !o.now.Before(o.startSince.Add(10*time.Minute)) {
				o.startSince, o.startCount = o.now, 0
			}
			o.startCount++
			o.attempts = append(o.attempts, o.now)
			o.phase = "pending"
			o.tries = 0
			o.denied = false
		}},
	},
	"exchange": {
		{func(o *oracle) bool { return !o.now.Before(o.end.Add(time.Minute)) }, "invalid_grant", nothing},
		{func(o *oracle) bool { return o.texts[o.text] != o.generation }, "invalid_grant", nothing},
		{(*oracle).over, "expired_token", nothing},
		{func(o *oracle) bool { return o.trades == 30 && o.now.Before(o.trade.Add(time.Hour)) }, "slow_down", nothing},
		{always, "", func(o *oracle) {
			if o.trades == 0 || !o.now.Before(o.trade.Add(time.Hour)) {
				o.trade, o.trades = o.now, 0
			}
			o.trades++
			o.hold()
		}},
	},
	"poll": {
		{func(o *oracle) bool { return o.phase == "revoked" }, "invalid_grant", nothing},
		{(*oracle).over, "expired_token", nothing},
		{func(o *oracle) bool { return o.taken }, "invalid_grant", nothing},
		{func(o *oracle) bool {
			return o.phase == "verified" && (o.redeemed == 3 || !o.now.Before(o.done.Add(10*time.Minute)))
		}, "invalid_grant", nothing},
		{func(o *oracle) bool { return o.phase == "verified" }, "", func(o *oracle) {
			if o.redeemed > 0 {
				o.keys[o.last].dead = true
				o.held = slices.DeleteFunc(o.held, func(n int) bool { return n == o.last })
			}
			o.redeemed++
			o.last = len(o.keys)
			o.texts = append(o.texts, o.generation)
			o.hold()
		}},
		{func(o *oracle) bool { return o.locked }, "access_denied", nothing},
		{func(o *oracle) bool { return o.level+o.now.Sub(o.polled) < 5*time.Second }, "slow_down", nothing},
		{func(o *oracle) bool { return o.denied }, "access_denied", (*oracle).drain},
		{always, "authorization_pending", (*oracle).drain},
	},
	"complete": {
		{deaf, "invalid_request", nothing},
		{func(o *oracle) bool { return !o.right }, "invalid_request", func(o *oracle) {
			o.tries++
			o.wrong++
			o.locked = o.wrong == 15
		}},
		{always, "", (*oracle).claimedBy},
	},
	"refuse": {
		{func(o *oracle) bool { return o.phase == "unclaimed" && o.denied && o.newest() }, "", nothing},
		{deaf, "invalid_request", nothing},
		{always, "", func(o *oracle) { o.phase, o.denied = "unclaimed", true }},
	},
	"take": { // the claim token alone, at the route for plain workspaces
		{func(o *oracle) bool { return settled(o) || o.over() || o.locked }, "not_found", nothing},
		{always, "", func(o *oracle) { o.claimedBy(); o.taken = true }},
	},
	"unlink": {
		{func(o *oracle) bool { return o.phase == "verified" && o.by == o.owner && !o.taken }, "", func(o *oracle) {
			o.phase, o.held = "revoked", nil
			o.generation++
			for n := range o.keys {
				o.keys[n].dead = true
			}
		}},
		{always, "not_found", nothing},
	},
}

// life is one registration under random events.
type life struct {
	*env
	o        oracle
	random   *rand.Rand
	agent    contract.RegisteredAgent
	people   []credential.Actor
	source   id.Workspace
	starts   []contract.StartedClaim
	signed   []string
	history  []string
	mood     mood
	verified bool // at some time
}

func (w *env) begin(random *rand.Rand, m mood, used map[string]int) *life {
	w.wait(time.Minute) // past the rate limits
	l := &life{
		env:    w,
		random: random,
		mood:   m,
		agent:  w.agent(),
		people: []credential.Actor{w.person(), w.person()},
	}
	l.source = w.registration(l.agent.RegistrationID).Workspace
	l.signed = []string{l.agent.IdentityAssertion}
	l.o = oracle{
		born:       w.now(),
		end:        l.agent.AssertionExpires.Time,
		phase:      "unclaimed",
		generation: 1,
		texts:      []int{1},
		level:      25 * time.Second,
		polled:     w.now(),
		used:       used,
	}
	return l
}

// mood describes a life: how often each event happens, how likely a code is right, and how much time passes.
type mood struct {
	kinds string // a random one is drawn each time
	right float64
	pause time.Duration // at most, between most events
}

var moods = []mood{
	{"start exchange exchange poll poll complete complete refuse take unlink", .2, 3 * time.Minute}, // ordinary
	{"exchange exchange exchange poll poll poll start", 0, 4 * time.Second},                         // hasty
	{"start complete complete complete complete complete poll", 0, 3 * time.Minute},                 // clumsy
	{"start start start poll refuse", 0, 8 * time.Minute},                                           // restless
	{"start exchange poll complete complete unlink", .6, 20 * time.Hour},                            // slow
}

// pass lets time pass.
func (l *life) pass() {
	if l.random.IntN(3) > 0 {
		l.wait(time.Duration(l.random.Float64() * float64(l.mood.pause)))
	}
	l.o.now = l.now()
}

func (l *life) choose() {
	kinds := strings.Fields(l.mood.kinds)
	p := play{
		kind:  kinds[l.random.IntN(len(kinds))],
		by:    l.random.IntN(len(l.people)),
		text:  l.random.IntN(len(l.signed)),
		right: l.random.Float64() < l.mood.right,
	}
	if (p.kind == "take" || p.kind == "unlink") && l.random.IntN(6) > 0 {
		p.kind = "poll"
	}
	p.attempt = len(l.starts) - 1
	if n := l.random.IntN(10); p.attempt > 0 && n < 2 {
		p.attempt = l.random.IntN(p.attempt)
	} else if n == 9 && p.kind == "complete" {
		p.attempt = -1
	}
	if p.attempt < 0 && (p.kind == "refuse" || len(l.starts) == 0 && p.kind == "complete") {
		p.kind = "start"
	}
	l.o.play = p
}

// act runs the chosen event on the service.
func (l *life) act() (got contract.Token, err error) {
	switch p := l.o.play; p.kind {
	case "start":
		var s contract.StartedClaim
		if s, err = l.StartClaim(ctx, contract.StartClaim{ClaimToken: l.agent.ClaimToken}, admitAll, ""); err == nil {
			l.starts = append(l.starts, s)
		}
	case "exchange":
		got, err = l.exchange(l.signed[p.text])
	case "poll":
		if got, err = l.poll(l.agent.ClaimToken); err == nil {
			l.signed = append(l.signed, got.IdentityAssertion)
		}
	case "complete":
		c := contract.CompleteClaim{ClaimToken: l.agent.ClaimToken, UserCode: l.starts[len(l.starts)-1].UserCode}
		if p.attempt >= 0 {
			c.AttemptToken = l.starts[p.attempt].AttemptToken
		}
		if !p.right {
			c.UserCode = otherCode(c.UserCode)
		}
		_, err = l.Complete(ctx, l.people[p.by], c)
	case "refuse":
		err = l.Refuse(ctx, l.people[p.by], l.starts[p.attempt].AttemptToken)
	case "take":
		_, err = l.claimer.Claim(ctx, l.people[p.by], command(), nil, l.agent.ClaimToken)
	case "unlink":
		err = l.Unlink(ctx, l.people[p.by], l.agent.RegistrationID)
	}
	return got, err
}

// expect returns the answer that the table gives, and updates the oracle.
func (o *oracle) expect() string {
	rules := table[o.kind]
	n := slices.IndexFunc(rules, func(r rule) bool { return r.when(o) })
	o.used[fmt.Sprintf("%s %d", o.kind, n)]++
	r := rules[n]
	r.then(o)
	return r.answer
}

// step plays one event and reports what is wrong with the answer, or with the stored state.
func (l *life) step() string {
	l.pass()
	l.choose()
	l.history = append(l.history, fmt.Sprintf("%s %+v", l.o.now.Sub(l.o.born), l.o.play))
	got, err := l.act()
	want := l.o.expect()
	if answer := codeOf(err); answer != want {
		return fmt.Sprintf("answers %q (%v), want %q", answer, err, want)
	}
	if got.AccessToken != "" {
		home := l.source
		if l.o.phase == "verified" {
			home = l.people[l.o.owner].Workspace.ID
		}
		until := l.o.now.Add(time.Hour)
		if until.After(l.o.end) {
			until = l.o.end
		}
		l.o.keys = append(l.o.keys, token{got.AccessToken, home, until, false})
	}
	return l.invariants()
}

// invariants checks that verified never goes back, that a consumed workspace has no credential, and that every token
// works exactly where and as long as it should.
func (l *life) invariants() string {
	r := l.registration(l.agent.RegistrationID)
	if l.verified = l.verified || l.o.phase == "verified"; l.verified && r.State != agentauth.Verified &&
		r.State != agentauth.Revoked {
		return "a claimed registration is " + string(r.State)
	}
	if r.Redeemed > limits.ClaimRedemptions || len(r.Keys) > limits.AgentTokens || r.Locked != l.o.locked ||
		r.Generation != int64(l.o.generation) {
		return fmt.Sprintf("stored %+v", r)
	}
	for range min(3, len(l.o.keys)) {
		n := len(l.o.keys) - 1 - l.random.IntN(min(15, len(l.o.keys)))
		k, home := l.o.keys[n], id.Workspace("")
		if !k.dead && l.o.now.Before(k.until) {
			home = k.home
		}
		if works := l.works(k.secret); works != home {
			return fmt.Sprintf("token %d works in %q, want %q", n, works, home)
		}
		if l.verified && home == l.source {
			return "a token works in a consumed workspace"
		}
	}
	return ""
}

func TestRandomEventsAreAnsweredAsTheTableSays(t *testing.T) {
	use := *seed
	if use == 0 {
		use = rand.Uint64()
	}
	w := newEnv(t)
	w.limits.WrongCode.Limit = 1_000_000
	random := rand.New(rand.NewPCG(use, use))
	began := time.Now()
	ends := map[string]int{}
	used := map[string]int{}
	for lives := 0; lives < 4*len(moods) && time.Since(began) < 4*time.Second; lives++ {
		l := w.begin(random, moods[lives%len(moods)], used)
		for after := 0; len(l.history) < 70 && after < 25; {
			if settled(&l.o) || l.o.over() {
				after++
			}
			if wrong := l.step(); wrong != "" {
				t.Fatalf("-seed %d, event %d: %s\n%s", use, len(l.history), wrong, strings.Join(l.history, "\n"))
			}
		}
		ends[l.o.phase]++
	}
	t.Logf("-seed %d: lives ended as %v, the rules were used %v", use, ends, used)
}
