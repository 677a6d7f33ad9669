package oauth_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

func TestARefreshTokenIsReplacedAtEachUse(t *testing.T) {
	s := newEnv(t)
	robot := s.robot(t)
	first := s.signIn(t, robot)
	second := s.token(t, refreshing(robot.ClientID, first))
	if second.RefreshToken == first.RefreshToken || second.AccessToken == first.AccessToken ||
		second.Scope != first.Scope {
		t.Error("the tokens stay the same")
	}
	if !s.works(first.AccessToken, mcpOrigin) || !s.works(second.AccessToken, mcpOrigin) {
		t.Error("two access tokens do not live beside each other")
	}
	third := s.token(t, refreshing(robot.ClientID, second))
	if s.works(first.AccessToken, mcpOrigin) || !s.works(second.AccessToken, mcpOrigin) ||
		!s.works(third.AccessToken, mcpOrigin) {
		t.Error("not the two newest access tokens live")
	}
	other := refreshing("cli", third)
	s.refuses(t, "another client", other, fault.OAuthInvalidGrant)
	wrong := refreshing(robot.ClientID, third)
	wrong.Resource = apiOrigin
	s.refuses(t, "T34: another resource", wrong, fault.OAuthInvalidTarget)
	bare := refreshing("", third)
	s.refuses(t, "no client", bare, fault.OAuthInvalidRequest)
	s.refuses(t, "no token", refreshing("cli", contract.Token{}), fault.OAuthInvalidRequest)
	s.refuses(t, "an access token", refreshing(robot.ClientID, contract.Token{RefreshToken: third.AccessToken}),
		fault.OAuthInvalidGrant)
	s.token(t, refreshing(robot.ClientID, third))
	s.checkSecrets(t)
}

func TestT35AUsedRefreshTokenEndsItsGrant(t *testing.T) {
	s := newEnv(t)
	reused := 0
	for name, c := range map[string]struct {
		turns int
		wait  time.Duration
	}{
		"the one before, after the grace": {1, limits.RefreshGrace + time.Second},
		"an older one, at once":           {2, 0},
		"a much older one":                {40, 0},
	} {
		first := s.signIn(t, authorization())
		last := first
		for range c.turns {
			last = s.token(t, refreshing("cli", last))
		}
		s.clock.Advance(c.wait)
		s.refuses(t, name, refreshing("cli", first), fault.OAuthInvalidGrant)
		if s.works(last.AccessToken, apiOrigin) {
			t.Errorf("%s: the access token works on", name)
		}
		s.refuses(t, name+", then the newest", refreshing("cli", last), fault.OAuthInvalidGrant)
		reused++
		s.WantEvents(t, event.RefreshReused, reused)
	}
}

func TestALostAnswerMayBeAskedForAgain(t *testing.T) {
	s := newEnv(t)
	first := s.signIn(t, authorization())
	second := s.token(t, refreshing("cli", first))
	s.clock.Advance(limits.RefreshGrace)
	again := s.token(t, refreshing("cli", first))
	if again.RefreshToken != second.RefreshToken || again.AccessToken != second.AccessToken ||
		again.ExpiresIn != second.ExpiresIn-int(limits.RefreshGrace.Seconds()) {
		t.Errorf("another answer: %d seconds", again.ExpiresIn)
	}
	s.token(t, refreshing("cli", again))
	s.refuses(t, "another client", refreshing("dashboard", first), fault.OAuthInvalidGrant)
}

func TestAnAnswerOfTheStoreThatIsLostCostsNobodyTheirGrant(t *testing.T) {
	s := newEnv(t)
	first := s.signIn(t, authorization())
	s.faults.On("UpdateItem").If(chaos.Table(s.Names.Core)).After(chaos.Timeout) // the retry finds its own write
	second := s.token(t, refreshing("cli", first))
	if !s.works(second.AccessToken, apiOrigin) {
		t.Error("the token is not the one that was stored")
	}
	s.clock.Advance(time.Minute)
	s.faults.On("UpdateItem").If(chaos.Table(s.Names.Core)).After(chaos.Crash)
	if _, err := s.Token(chaos.Process(ctx), refreshing("cli", second), from, request); err == nil {
		t.Error("a process that died answers")
	}
	third := s.token(t, refreshing("cli", second))
	s.token(t, refreshing("cli", third))

	r := s.code(t, authorization())
	s.faults.On("TransactWriteItems").After(chaos.Timeout)
	if out := s.token(t, r); !s.works(out.AccessToken, apiOrigin) {
		t.Error("a code whose answer was lost on the way is no grant")
	}
	s.faults.On("TransactWriteItems").Before(chaos.Conflict)
	if out := s.signIn(t, authorization()); !s.works(out.AccessToken, apiOrigin) {
		t.Error("a conflict is not tried again")
	}
}

func TestT35ManyWhoRefreshAtOnceGetOneAnswer(t *testing.T) {
	s := newEnv(t)
	first := s.signIn(t, authorization())
	got := make([]contract.Token, 50)
	expect.OK(t, parallel.Calls(len(got), func(n int) (err error) {
		got[n], err = s.Token(ctx, refreshing("cli", first), from, request)
		return err
	})...)
	for _, out := range got {
		if out.RefreshToken != got[0].RefreshToken || out.AccessToken != got[0].AccessToken {
			t.Fatal("one refresh token became several")
		}
	}
	if !s.works(got[0].AccessToken, apiOrigin) || s.CountEvents(t, event.RefreshReused) != 0 {
		t.Error("parallel refreshes count as theft")
	}
	s.token(t, refreshing("cli", got[0]))
	s.clock.Advance(time.Minute)
	reused := func(int) error { _, err := s.Token(ctx, refreshing("cli", first), from, request); return err }
	if parallel.Successes(50, reused) > 0 {
		t.Error("a used token is accepted")
	}
	s.WantEvents(t, event.RefreshReused, 1)
}

func TestAGuessedRefreshTokenEndsNothing(t *testing.T) {
	s := newEnv(t)
	out := s.signIn(t, authorization())
	forged := out
	forged.RefreshToken = s.forge(t, out.RefreshToken, credential.RefreshToken)
	s.refuses(t, "forged", refreshing("cli", forged), fault.OAuthInvalidGrant)
	moved := credential.MintAs(credential.RefreshToken, credential.Preview, id.NewWorkspace(), id.NewPublic())
	s.refuses(t, "unknown", refreshing("cli", contract.Token{RefreshToken: moved.Reveal()}), fault.OAuthInvalidGrant)
	if !s.works(out.AccessToken, apiOrigin) {
		t.Error("a guess ended the grant")
	}
	s.token(t, refreshing("cli", out))
}

func TestAGrantEndsWhenItIsIdleAndAtLastForGood(t *testing.T) {
	s := newEnv(t)
	idle := s.signIn(t, authorization())
	s.clock.Advance(limits.RefreshIdle - time.Second)
	out := s.token(t, refreshing("cli", idle))
	s.clock.Advance(limits.RefreshIdle)
	s.refuses(t, "idle", refreshing("cli", out), fault.OAuthInvalidGrant)

	out = s.signIn(t, authorization())
	for range 4 {
		s.clock.Advance(limits.MaxRefreshLife/4 - time.Minute)
		out = s.token(t, refreshing("cli", out))
	}
	if out.ExpiresIn != 240 {
		t.Errorf("four minutes before the end of the grant an access token lives %d seconds", out.ExpiresIn)
	}
	s.clock.Advance(4 * time.Minute)
	if s.works(out.AccessToken, apiOrigin) {
		t.Error("an access token outlives its grant")
	}
	s.refuses(t, "over", refreshing("cli", out), fault.OAuthInvalidGrant)
}

func TestT74OnlyTheWholeSecretRevokes(t *testing.T) {
	s := newEnv(t)
	out := s.signIn(t, authorization())
	for _, harmless := range []string{
		"", "x", s.forge(t, out.AccessToken, credential.AccessToken), s.forge(t, out.RefreshToken, credential.RefreshToken),
		credential.Mint(credential.APIKey, credential.Preview, id.NewWorkspace(), "").Reveal(),
	} {
		if err := s.Revoke(ctx, harmless, request); err != nil {
			t.Errorf("%.10q: %v", harmless, err)
		}
	}
	if !s.works(out.AccessToken, apiOrigin) {
		t.Fatal("a wrong secret revokes")
	}
	out = s.token(t, refreshing("cli", out))
	for name, token := range map[string]func(contract.Token) string{
		"access token":  func(o contract.Token) string { return o.AccessToken },
		"refresh token": func(o contract.Token) string { return o.RefreshToken },
	} {
		out := s.signIn(t, authorization())
		for range 2 {
			if err := s.Revoke(ctx, token(out), request); err != nil {
				t.Error(name, err)
			}
		}
		if s.works(out.AccessToken, apiOrigin) {
			t.Errorf("the %s does not end the grant", name)
		}
		s.refuses(t, name, refreshing("cli", out), fault.OAuthInvalidGrant)
	}
	s.WantEvents(t, event.GrantRevoked, 2)
	if !s.works(out.AccessToken, apiOrigin) {
		t.Error("another grant ended too")
	}
}

func TestAnAgentsTokenIsRevokedAndAnAPIKeyIsNot(t *testing.T) {
	s := newEnv(t)
	for registration, ends := range map[id.Registration]bool{id.RegistrationOf(id.NewPublic()): true, "": false} {
		token := credential.Mint(credential.APIKey, credential.Preview, s.by.Workspace.ID, "")
		k := credential.Key{
			ID:           id.NewKey(token.Public),
			Public:       token.Public,
			Workspace:    s.by.Workspace.ID,
			Hash:         token.Hash(s.Peppers),
			Name:         "K",
			Scopes:       []credential.Scope{credential.Read},
			CreatedAt:    s.clock.Now(),
			Registration: registration,
		}
		made := event.Event{ID: id.NewEvent(), Workspace: k.Workspace, At: k.CreatedAt, Action: event.KeyCreated}
		command := idempotency.Command{Key: idempotency.Key{
			Actor:     s.by.Subject(),
			Operation: idempotency.CreateKey,
			Client:    string(k.Public),
		}}
		expect.OK(t, s.Stores.Keys.Create(ctx, credential.Creation{
			Command: command,
			Key:     k,
			Most:    5,
			Event:   made,
		}))
		if err := s.Revoke(ctx, s.forge(t, token.Reveal(), credential.APIKey), request); err != nil {
			t.Error(err)
		}
		if kept, _ := s.Stores.Keys.Key(ctx, k.Public); !kept.RevokedAt.IsZero() {
			t.Error("T74: a wrong secret revokes a key")
		}
		if err := s.Revoke(ctx, token.Reveal(), request); err != nil {
			t.Error(err)
		}
		if kept, _ := s.Stores.Keys.Key(ctx, k.Public); kept.RevokedAt.IsZero() == ends {
			t.Errorf("of registration %q: revoked at %s", registration, kept.RevokedAt)
		}
	}
	s.WantEvents(t, event.TokenRevoked, 1)
}

func TestAMemberSeesAndEndsWhatTheyAllow(t *testing.T) {
	s := newEnv(t)
	robot := s.robot(t)
	out := s.signIn(t, robot)
	s.clock.Advance(time.Second)
	s.signIn(t, authorization())
	stranger := s.join(t)
	grants, next, err := s.Grants(ctx, s.by, cursor.Page{})
	if err != nil || next != "" || len(grants) != 2 || grants[0].Client != "cli" || grants[1].Name != "Robot" {
		t.Fatalf("%+v %v, want those of the CLI and Robot", grants, err)
	}
	first, next, err := s.Grants(ctx, s.by, cursor.Page{Limit: 1})
	if err != nil || next == "" || len(first) != 1 || first[0].Public != grants[0].Public {
		t.Fatalf("%+v %+v %v, want the first and a cursor", first, next, err)
	}
	rest := cursor.Page{Limit: 1, Cursor: next}
	if second, next, err := s.Grants(ctx, s.by, rest); err != nil || next != "" || len(second) != 1 ||
		second[0].Public != grants[1].Public {
		t.Errorf("%+v %+v %v, want the second and no cursor", second, next, err)
	}
	if _, _, err := s.Grants(ctx, stranger, rest); fault.CodeOf(err) != fault.InvalidCursor {
		t.Error("a stranger's cursor opens the list", err)
	}
	if none, _, err := s.Grants(ctx, stranger, cursor.Page{}); err != nil || len(none) != 0 {
		t.Error("a stranger sees grants", none, err)
	}
	if err := s.EndGrant(ctx, stranger, grants[1].Public); fault.CodeOf(err) != fault.NotFound {
		t.Error("a stranger ends a grant", err)
	}
	app := s.by
	app.Client = "cli"
	if _, _, err := s.Grants(ctx, app, cursor.Page{}); fault.CodeOf(err) != fault.Forbidden {
		t.Error("an app sees what the member allows", err)
	}
	colleague := s.by
	colleague.Member = stranger.Member
	if _, _, err := s.Grants(ctx, colleague, rest); fault.CodeOf(err) != fault.InvalidCursor {
		t.Error("a colleague's cursor opens the list", err)
	}
	for _, malformed := range []id.Public{"", "x", id.Public(strings.Repeat("a", 2100))} {
		if _, err := s.Allowed(ctx, s.by, malformed); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("an id of %d letters: %v", len(malformed), err)
		}
	}
	if _, err := s.Allowed(ctx, colleague, grants[1].Public); fault.CodeOf(err) != fault.NotFound {
		t.Error("a colleague sees a grant", err)
	}
	if one, err := s.Allowed(ctx, s.by, grants[1].Public); err != nil || one.Name != "Robot" {
		t.Error(one, err)
	}
	if err := s.EndGrant(ctx, colleague, grants[1].Public); fault.CodeOf(err) != fault.NotFound {
		t.Error("a colleague ends a grant", err)
	}
	if err := s.EndGrant(ctx, s.by, grants[1].Public); err != nil || s.works(out.AccessToken, mcpOrigin) {
		t.Error("the grant lives", err)
	}
	if _, err := s.Allowed(ctx, s.by, grants[1].Public); fault.CodeOf(err) != fault.NotFound {
		t.Error("what has ended is allowed", err)
	}
	if left, _, err := s.Grants(ctx, s.by, cursor.Page{}); err != nil || len(left) != 1 || left[0].Client != "cli" {
		t.Error(left, err)
	}
}
