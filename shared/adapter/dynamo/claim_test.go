package dynamo

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// source provisions a workspace that can be claimed.
func source(t testing.TB, s Stores) (workspace.Workspace, credential.Key, claim.Token) {
	t.Helper()
	return provision(t, s, func(p *ephemeral.Provision) {
		p.Claim.Hash = credential.Hash{Pepper: 1, MAC: []byte("claim")}
	})
}

// claimant makes a workspace that people have.
func claimant(t testing.TB, s Stores) workspace.Workspace {
	t.Helper()
	w := freeWorkspace("P")
	w.ClaimedAt = w.CreatedAt
	store(t, s, workspaceItem(w))
	return w
}

// moveOf is the claim of a source by a claimant, under a command of its own.
func moveOf(c claim.Token, destination id.Workspace) claim.Move {
	at := now()
	member := id.NewMember()
	return claim.Move{
		Source:      c.Workspace,
		Destination: destination,
		Token:       c,
		Member:      member,
		MinExpiry:   at.Add(72 * time.Hour),
		At:          at,
		Result:      []byte(`{}`),
		Command: &idempotency.Command{Key: idempotency.Key{
			Actor:     string(member),
			Operation: idempotency.ClaimWorkspace,
			Client:    string(id.NewPublic()),
		}},
		Events: []event.Event{record(destination, at)},
	}
}

// registered gives a token a registration with an open attempt, and set changes its attributes.
func registered(t testing.TB, s Stores, c *claim.Token, set func(item)) {
	t.Helper()
	c.Registration = id.RegistrationOf(id.NewPublic())
	store(t, s, claimTokenItem(*c))
	r := registrationItem(agentauth.Registration{
		ID:         c.Registration,
		Kind:       agentauth.Anonymous,
		State:      agentauth.ClaimPending,
		Generation: 1,
		Version:    7,
		Workspace:  c.Workspace,
		Claim:      c.Public,
		CreatedAt:  now(),
		ExpiresAt:  now().Add(time.Hour),
		Keys:       []id.Public{id.NewPublic()},
		Attempt:    agentauth.Attempt{Number: 2, Failures: 4, ExpiresAt: now().Add(time.Minute)},
	})
	set(r)
	store(t, s, r)
}

func TestAClaimIsOneTransactionOfConstantSize(t *testing.T) {
	s := New(newClient(t, meter.Add), newStore(t).tables)
	for name, tt := range map[string]struct {
		registered bool
		most       float64
	}{
		// 8 fences, two gates, token, alias, record, event and job, each of them twice; one index entry of the job and the
		// event.
		"a provision": {false, 32},
		// And the registration, its entry in the list of connections, and a second event with its entry.
		"an agent's registration": {true, 38},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, c := source(t, s)
			dest := claimant(t, s)
			if tt.registered {
				registered(t, s, &c, func(item) {})
			}
			m := moveOf(c, dest.ID)
			if m.Registration = c.Registration; tt.registered {
				m.Events = append(m.Events, record(dest.ID, m.At))
			}
			ctx, counts := meter.With(t.Context())
			noError(t, s.Claims.Move(ctx, m))
			t.Logf("%d calls, %g RRU, %g WRU", counts.Calls(), counts.RRU(), counts.WRU())
			if counts.Calls() != 1 || counts.WRU() > tt.most || counts.WRU() == 0 {
				t.Errorf("%d calls, %g WRU, want 1 and %g", counts.Calls(), counts.WRU(), tt.most)
			}
		})
	}
}

func TestAClaimClosesTheSourceAndLeavesItsWork(t *testing.T) {
	s := newStore(t)
	w, _, c := source(t, s)
	dest := claimant(t, s)
	m := moveOf(c, dest.ID)
	noError(t, s.Claims.Move(ctx, m))
	got, err := s.Workspaces.Workspace(ctx, w.ID)
	if err != nil || got.ClaimedInto != dest.ID || !got.MinExpiry.Equal(m.MinExpiry) || !got.ClaimedAt.Equal(m.At) ||
		got.Open() {
		t.Errorf("%+v %v, want a workspace that was claimed and is closed", got, err)
	}
	for n := range fences {
		f, err := s.get(ctx, fenceKey(w.ID, n))
		if err != nil || f.getStr("into") != string(dest.ID) {
			t.Errorf("fence %d: %v %v", n, f, err)
		}
	}
	redeemed, err := s.Claims.Token(ctx, c.Public)
	c.RedeemedAt = m.At
	if diff := cmp.Diff(&c, redeemed); err != nil || diff != "" {
		t.Errorf("%v, the token (-want +got):\n%s", err, diff)
	}
	if due, err := s.Claims.Due(ctx, m.At, 9); err != nil || len(due) != 1 || due[0].Source != w.ID {
		t.Errorf("due %v %v", due, err)
	}
	var taken *idempotency.AlreadyDone
	if err := s.Claims.Move(ctx, m); !errors.As(err, &taken) || !taken.Record.Finished(now()) {
		t.Errorf("the same command again: %v", err)
	}
	m.Command = nil
	if err := s.Claims.Move(ctx, m); !errors.Is(err, claim.ErrGone) {
		t.Errorf("the same token again: %v", err)
	}
	if a, err := s.Claims.Token(ctx, id.NewPublic()); a != nil || err != nil {
		t.Errorf("an unknown token: %v %v", a, err)
	}
}

func TestAClaimVerifiesTheRegistrationOfItsToken(t *testing.T) {
	s := newStore(t)
	for name, attempt := range map[string]int{"by a code": 2, "by the token alone": 0} {
		t.Run(name, func(t *testing.T) {
			_, _, c := source(t, s)
			dest := claimant(t, s)
			registered(t, s, &c, func(item) {})
			m := moveOf(c, dest.ID)
			m.Registration, m.Attempt = c.Registration, attempt
			home := m.Source
			if attempt > 0 {
				home = dest.ID
			}
			noError(t, s.Claims.Move(ctx, m))
			i := must(s.get(ctx, registrationKey(c.Registration)))(t)
			r := readRegistration(i, c.Registration)
			if r.State != agentauth.Verified || r.Workspace != home || r.Member != m.Member || r.Generation != 2 ||
				r.Version != 8 ||
				!r.CompletedAt.Equal(m.At) || len(r.Keys) != 0 {
				t.Errorf("%+v, want it verified for the member, without keys", r)
			}
			if again := registrationItem(*r); attempt > 0 &&
				(i.getStr("g1p") != again.getStr("g1p") || i.getStr("g1s") != again.getStr("g1s") || again.getStr("g1p") == "") {
				t.Errorf("it is listed under %s %s", i.getStr("g1p"), i.getStr("g1s"))
			}
			if attempt == 0 && i.getStr("g1p") != "" {
				t.Errorf("it is listed under %s", i.getStr("g1p"))
			}
		})
	}
}

// TestT25AClaimThatComesTooLateChangesNothing has one condition false at a time.
func TestT25AClaimThatComesTooLateChangesNothing(t *testing.T) {
	s := newStore(t)
	change := func(k key, set func(item)) {
		i := must(s.get(ctx, k))(t)
		if i == nil {
			i = newItem(k)
		}
		set(i)
		store(t, s, i)
	}
	past := now().Add(-time.Second)
	for name, tt := range map[string]struct {
		wrong      func(c *claim.Token, m *claim.Move)
		registered func(item) // nil: no registration
		closed     bool       // the destination
	}{
		"redeemed":   {wrong: func(c *claim.Token, _ *claim.Move) { c.RedeemedAt = past }},
		"expired":    {wrong: func(c *claim.Token, _ *claim.Move) { c.ExpiresAt = past }},
		"other hash": {wrong: func(_ *claim.Token, m *claim.Move) { m.Token.Hash.MAC = []byte("other") }},
		"of another": {wrong: func(c *claim.Token, _ *claim.Move) { c.Workspace = id.NewWorkspace() }},
		"source locked": {wrong: func(c *claim.Token, _ *claim.Move) {
			change(workspaceKey(c.Workspace), func(i item) { i.str("lock", "lkd") })
		}},
		"a fence closed": {wrong: func(c *claim.Token, _ *claim.Move) {
			change(fenceKey(c.Workspace, 3), func(i item) { i.str("lock", "lkd") })
		}},
		"claimed already": {wrong: func(c *claim.Token, _ *claim.Move) {
			change(workspaceKey(c.Workspace), func(i item) { i.time("claimed_at", past) })
		}},
		"destination locked": {closed: true, wrong: func(_ *claim.Token, m *claim.Move) {
			change(workspaceKey(m.Destination), func(i item) { i.str("lock", "lkd") })
		}},
		"destination ephemeral": {closed: true, wrong: func(_ *claim.Token, m *claim.Move) {
			change(workspaceKey(m.Destination), func(i item) { delete(i, "claimed_at") })
		}},
		"destination moved": {closed: true, wrong: func(_ *claim.Token, m *claim.Move) {
			change(workspaceKey(m.Destination), func(i item) { i.str("into", "other") })
		}},
		"a newer attempt":    {registered: func(i item) { i.num("attempt", 3) }},
		"attempt over":       {registered: func(i item) { i.time("attempt_exp", past) }},
		"attempt spent":      {registered: func(i item) { i.num("tries", 5) }},
		"attempt refused":    {registered: func(i item) { i.str("state", string(agentauth.Unclaimed)) }},
		"locked":             {registered: func(i item) { i.flag("locked", true) }},
		"verified":           {registered: func(i item) { i.str("state", string(agentauth.Verified)) }},
		"revoked":            {registered: func(i item) { i.str("state", string(agentauth.Revoked)) }},
		"registration ended": {registered: func(i item) { i.time("exp", past) }},
		"moved registration": {registered: func(i item) { i.str("ws", "other") }},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, c := source(t, s)
			m := moveOf(c, claimant(t, s).ID)
			if tt.registered != nil {
				registered(t, s, &c, tt.registered)
				m.Registration, m.Attempt = c.Registration, 2
			} else {
				tt.wrong(&c, &m)
				store(t, s, claimTokenItem(c))
			}
			before := everything(t, s)
			err := s.Claims.Move(ctx, m)
			if tt.closed && fault.CodeOf(err) != fault.NotAuthenticated || !tt.closed && !errors.Is(err, claim.ErrGone) {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, everything(t, s), unexported); diff != "" {
				t.Errorf("something changed (-before +after):\n%s", diff)
			}
		})
	}
}

func everything(t testing.TB, s Stores) (all []map[string]types.AttributeValue) {
	t.Helper()
	for _, table := range []string{s.tables.Core, s.tables.Events, s.tables.Hot} {
		out := must(newClient(t).Scan(ctx, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}))(t)
		all = append(all, out.Items...)
	}
	return all
}

// TestF28OneTokenIsClaimedOnce has several claimants use one token at once, half of them with the same command.
func TestF28OneTokenIsClaimedOnce(t *testing.T) {
	s := newStore(t)
	_, _, c := source(t, s)
	first := moveOf(c, claimant(t, s).ID)
	errs := parallel.Calls(8, func(n int) error {
		m := first
		if n%2 == 1 {
			m = moveOf(c, claimant(t, s).ID)
		}
		return s.Claims.Move(ctx, m)
	})
	won := 0
	for n, err := range errs {
		var taken *idempotency.AlreadyDone
		switch {
		case err == nil:
			won++
		case errors.Is(err, claim.ErrGone), fault.CodeOf(err) == fault.DatabaseUnavailable, n%2 == 0 &&
			errors.As(err, &taken):
		default:
			t.Errorf("%v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d claims won: %v", won, errs)
	}
}

// TestF32TheMigratorDoesNotTrustTheIndexAlone lets the index show what the artifacts no longer say, and miss what they
// do.
func TestF32TheMigratorDoesNotTrustTheIndexAlone(t *testing.T) {
	s := newStore(t)
	w, k, c := source(t, s)
	r := draft(t, s, w, k, "")
	dest := claimant(t, s)
	m := moveOf(c, dest.ID)
	noError(t, s.Claims.Move(ctx, m))
	_, left, clear, err := s.Claims.Remaining(ctx, w.ID, 9)
	if err != nil || len(left) != 1 || clear {
		t.Fatalf("%v %t %v", left, clear, err)
	}
	stale := left[0]
	i := must(s.get(ctx, artifactKey(r.Artifact)))(t)
	store(t, s, i.str("own", string(dest.ID))) // moved, and the index shows it in its old place
	if _, left, clear, err = s.Claims.Remaining(ctx, w.ID, 9); err != nil || len(left) != 0 || clear {
		t.Errorf("%v %t %v", left, clear, err)
	}
	gate := must(s.Workspaces.Workspace(ctx, w.ID))(t)
	if err := s.Claims.MoveArtifact(ctx, *stale.AfterClaimOf(*gate)); err != nil { // of another migrator that read before
		t.Error(err)
	}
	if a, err := s.Artifacts.Artifact(ctx, r.Artifact); err != nil || !a.ExpiresAt.Equal(stale.ExpiresAt) {
		t.Errorf("a stale move took effect: %+v %v", a, err)
	}
	rows, more, err := s.Artifacts.List(ctx, artifact.Query{
		Workspace: dest.ID,
		Claimed:   true,
		Limit:     9,
		Now:       now(),
	})
	if err != nil || more || len(rows) != 1 || rows[0].Owner != dest.ID {
		t.Errorf("the list shows %+v %t %v", rows, more, err)
	}
}
