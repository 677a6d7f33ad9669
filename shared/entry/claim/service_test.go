package claim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

var now = time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)

// fakeStore serves both ports of the service: it holds one claim token and the artifacts behind it, and records the
// claim that is committed.
type fakeStore struct {
	token     *claim.Token
	artifacts []artifact.Artifact
	moved     []claim.Move
	listErr   error
	moveErr   error
}

func (f *fakeStore) Token(context.Context, id.Public) (*claim.Token, error) { return f.token, nil }

func (f *fakeStore) List(_ context.Context, q artifact.Query) ([]artifact.Artifact, bool, error) {
	return f.artifacts[:min(q.Limit, len(f.artifacts))], len(f.artifacts) > q.Limit, f.listErr
}

func (f *fakeStore) Move(_ context.Context, m claim.Move) error {
	f.moved = append(f.moved, m)
	return f.moveErr
}

// claimEnv is an ephemeral workspace whose claim token a member holds.
type claimEnv struct {
	*claim.Service
	store  *fakeStore
	minted credential.Token
	secret string
	by     credential.Actor
}

func newClaimEnv(t *testing.T, artifacts int) *claimEnv {
	t.Helper()
	peppers, err := keyring.New().Pepper.Derive("credential")
	expect.OK(t, err)
	source := id.NewWorkspace()
	minted := credential.Mint(credential.ClaimToken, credential.Preview, source, "")
	e := &claimEnv{
		minted: minted,
		secret: minted.Reveal(),
		store: &fakeStore{
			token: &claim.Token{
				ID:        id.NewClaimToken(),
				Public:    minted.Public,
				Workspace: source,
				Hash:      minted.Hash(peppers),
				CreatedAt: now.Add(-time.Hour),
				ExpiresAt: now.Add(time.Hour),
			},
		},
		by: credential.Actor{
			Member:    id.NewMember(),
			Workspace: workspace.Workspace{ID: id.NewWorkspace(), ClaimedAt: now.Add(-limits.Day)},
			Policy:    limits.Default().Tiers[limits.Free],
		},
	}
	for n := range artifacts {
		e.store.artifacts = append(e.store.artifacts, artifact.Artifact{ID: id.NewArtifact(), Title: fmt.Sprint("Title ", n)})
	}
	e.Service = &claim.Service{
		Store:       e.store,
		Artifacts:   e.store,
		Peppers:     peppers,
		Environment: credential.Preview,
		Now:         func() time.Time { return now },
	}
	return e
}

func (e *claimEnv) claim(t *testing.T, record *idempotency.Record) (contract.Claimed, error) {
	t.Helper()
	command := idempotency.Command{
		Key:         idempotency.Key{Actor: e.by.Subject(), Operation: idempotency.ClaimWorkspace, Client: "key-1"},
		Fingerprint: idempotency.FingerprintOf("POST", "/v1/claim", nil),
	}
	return e.Claim(t.Context(), e.by, command, record, e.secret)
}

func TestAPreviewShowsWhatAClaimBrings(t *testing.T) {
	e := newClaimEnv(t, limits.ClaimTitles+2)
	p, err := e.Preview(t.Context(), e.by, e.secret)
	expect.OK(t, err)
	if p.Workspace != e.store.token.Workspace || p.Count != limits.ClaimTitles+2 || len(p.Titles) != limits.ClaimTitles {
		t.Errorf("%+v, want the count, and the first titles", p)
	}
	if p.Titles[0] != "Title 0" || !p.ExpiresAt.Equal(e.store.token.ExpiresAt) ||
		!p.CreatedAt.Equal(e.store.token.CreatedAt) {
		t.Errorf("%+v, want the newest title and the token's times", p)
	}
	if len(e.store.moved) != 0 {
		t.Error("a preview claims")
	}
}

func TestAnEmptyWorkspaceHasAPreviewToo(t *testing.T) {
	e := newClaimEnv(t, 0)
	if p, err := e.Preview(t.Context(), e.by, e.secret); err != nil || p.Titles == nil || p.Count != 0 {
		t.Errorf("%+v, %v, want no titles, as a list", p, err)
	}
}

func TestAClaimMovesTheWorkspaceInOneCommit(t *testing.T) {
	e := newClaimEnv(t, 3)
	e.store.token.Registration = "reg_1"
	got, err := e.claim(t, nil)
	expect.OK(t, err)
	if got.SourceWorkspaceID != e.store.token.Workspace || got.DestinationWorkspaceID != e.by.Workspace.ID ||
		len(got.ArtifactIDs) != 3 {
		t.Errorf("%+v, want three artifacts moved to the member's workspace", got)
	}
	if len(e.store.moved) != 1 {
		t.Fatalf("%d commits", len(e.store.moved))
	}
	m := e.store.moved[0]
	if m.Source != e.store.token.Workspace || m.Destination != e.by.Workspace.ID || m.Member != e.by.Member ||
		m.Registration != "reg_1" {
		t.Errorf("%+v, want the move by the member", m)
	}
	if m.Attempt != 0 {
		t.Error("the claim token alone lets the agent in")
	}
	if want := now.Add(e.by.Policy.DefaultLife); !m.MinExpiry.Equal(want) {
		t.Errorf("what lives ends at %v, want %v", m.MinExpiry, want)
	}
	if len(m.Events) != 1 || m.Events[0].Action != event.WorkspaceClaimed || m.Events[0].Workspace != e.by.Workspace.ID {
		t.Errorf("recorded as %+v", m.Events)
	}
	var kept contract.Claimed
	if err := json.Unmarshal(m.Result, &kept); err != nil || kept.SourceWorkspaceID != got.SourceWorkspaceID {
		t.Errorf("kept for a repetition: %s, %v", m.Result, err)
	}
}

func TestAClaimIntoAWorkspaceWithoutExpiryTakesTheEndAway(t *testing.T) {
	e := newClaimEnv(t, 1)
	e.by.Policy.MaxLife, e.by.Workspace.AutoDays = limits.Forever, limits.ForeverDays
	_, err := e.claim(t, nil)
	expect.OK(t, err)
	if got := e.store.moved[0].MinExpiry; !got.Equal(limits.Never) {
		t.Errorf("what lives ends at %v, want never", got)
	}
}

func TestT68EveryTokenThatCannotBeUsedIsTheSameNotFound(t *testing.T) {
	want := ""
	for name, change := range map[string]func(e *claimEnv){
		"empty":                      func(e *claimEnv) { e.secret = "" },
		"malformed":                  func(e *claimEnv) { e.secret = "ap_ct_x" },
		"an API key":                 func(e *claimEnv) { e.minted.Kind = credential.APIKey; e.secret = e.minted.Reveal() },
		"of another environment":     func(e *claimEnv) { e.remint(credential.Production) },
		"with a wrong checksum":      func(e *claimEnv) { e.secret = e.secret[:len(e.secret)-6] + "000000" },
		"with another claim code":    func(e *claimEnv) { e.minted.ClaimCode = claimCode; e.secret = e.minted.Reveal() },
		"unknown":                    func(e *claimEnv) { e.store.token = nil },
		"another secret":             func(e *claimEnv) { e.store.token.Hash = credential.Hash{} },
		"expired in this instant":    func(e *claimEnv) { e.store.token.ExpiresAt = now },
		"of the claimer's workspace": func(e *claimEnv) { e.by.Workspace.ID = e.store.token.Workspace },
		"stored for another one":     func(e *claimEnv) { e.store.token.Workspace = id.NewWorkspace() },
		"redeemed":                   func(e *claimEnv) { e.store.moveErr, e.store.token.RedeemedAt = claim.ErrGone, now },
	} {
		t.Run(name, func(t *testing.T) {
			e := newClaimEnv(t, 1)
			change(e)
			_, err := e.claim(t, nil)
			if fault.CodeOf(err) != fault.NotFound {
				t.Fatalf("refused with %v", err)
			}
			if want == "" {
				want = err.Error()
			}
			if err.Error() != want {
				t.Errorf("it says %q, others %q", err, want)
			}
			if _, err := e.Preview(t.Context(), e.by, e.secret); fault.CodeOf(err) != fault.NotFound || err.Error() != want {
				t.Errorf("a preview says %q, others %q", err, want)
			}
		})
	}
}

// claimCode is attribution that the token was not minted with.
const claimCode = "clm_00000000000000000000000000"

// remint replaces the token, and what is stored of it, by one of another environment.
func (e *claimEnv) remint(environment credential.Environment) {
	e.minted = credential.MintAs(credential.ClaimToken, environment, e.store.token.Workspace, e.store.token.Public)
	e.secret, e.store.token.Hash = e.minted.Reveal(), e.minted.Hash(e.Peppers)
}

func TestOnlyMembersClaim(t *testing.T) {
	for name, change := range map[string]func(by *credential.Actor){
		"an API key":             func(by *credential.Actor) { by.Member = "" },
		"an ephemeral workspace": func(by *credential.Actor) { by.Workspace.ClaimedAt = time.Time{} },
	} {
		e := newClaimEnv(t, 1)
		change(&e.by)
		if _, err := e.claim(t, nil); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := e.Preview(t.Context(), e.by, e.secret); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%s looks: %v", name, err)
		}
		if len(e.store.moved) != 0 {
			t.Errorf("%s claims", name)
		}
	}
}

func TestTheSameCommandAgainGivesTheFirstAnswer(t *testing.T) {
	first := newClaimEnv(t, 2)
	want, err := first.claim(t, nil)
	expect.OK(t, err)
	m := first.store.moved[0]
	record := &idempotency.Record{
		Fingerprint: m.Command.Fingerprint,
		Done:        true,
		Result:      m.Result,
		Expires:     now.Add(time.Hour),
	}
	for name, repeat := range map[string]func(e *claimEnv) (contract.Claimed, error){
		"when it is known":      func(e *claimEnv) (contract.Claimed, error) { return e.claim(t, record) },
		"when it lost the race": func(e *claimEnv) (contract.Claimed, error) { return lose(t, e, record) },
	} {
		got, err := repeat(newClaimEnv(t, 0))
		if err != nil || got.SourceWorkspaceID != want.SourceWorkspaceID || len(got.ArtifactIDs) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func lose(t *testing.T, e *claimEnv, record *idempotency.Record) (contract.Claimed, error) {
	t.Helper()
	e.store.moveErr = &idempotency.AlreadyDone{Record: *record}
	return e.claim(t, nil)
}

func TestAFailedListingClaimsNothing(t *testing.T) {
	e := newClaimEnv(t, 1)
	e.store.listErr = fault.New(fault.DatabaseUnavailable, "down")
	if _, err := e.claim(t, nil); fault.CodeOf(err) != fault.DatabaseUnavailable || len(e.store.moved) != 0 {
		t.Errorf("%v, %d commits", err, len(e.store.moved))
	}
}

func TestAPanicWhileArtifactsAreListedIsTheErrorOfTheClaim(t *testing.T) {
	e := newClaimEnv(t, 1)
	e.Artifacts = nil
	if _, err := e.Preview(t.Context(), e.by, e.secret); async.StackOf(err) == nil {
		t.Error(err)
	}
}
