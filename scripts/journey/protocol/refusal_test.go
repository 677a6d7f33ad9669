package protocol

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// provocation is a request that meets one code. It gets an agent of its own.
type provocation struct {
	status int
	limits func(*limits.Limits) // changes them, in a deployment of its own
	ask    func(*testing.T, *harness.BackendEnv, *wire.Agent) wire.Answer
}

var provocations = map[fault.Code]provocation{
	fault.NotAuthenticated:        {401, nil, askWithoutKey},
	fault.InvalidAuth:             {400, nil, askWithTwoKeys},
	fault.InvalidIdempotencyKey:   {400, nil, createWithoutIdempotencyKey},
	fault.InvalidRequest:          {400, nil, createNothing},
	fault.InvalidCursor:           {400, nil, listFromNowhere},
	fault.Forbidden:               {403, nil, createAsReader},
	fault.NotFound:                {404, nil, askNowhere},
	fault.ArtifactNotFound:        {404, nil, deleteNothing},
	fault.RevisionUnpublished:     {404, nil, publishNoRevision},
	fault.UploadSessionNotFound:   {404, nil, replayALostSession},
	fault.RevisionRetained:        {410, nil, viewWithoutBytes},
	fault.DraftRevisionConflict:   {409, nil, reviseADraft},
	fault.IdempotencyInFlight:     {409, nil, finalizeTwiceAtOnce},
	fault.UploadIncomplete:        {409, nil, finalizeWithoutUpload},
	fault.UnexpectedUploadObject:  {409, nil, finalizeWithAStranger},
	fault.UploadSessionExpired:    {409, nil, finalizeTooLate},
	fault.EntrypointNotInRevision: {422, nil, createWithoutEntrypoint},
	fault.FileCountCapExceeded:    {400, harness.WithPolicy(func(p *limits.Policy) { p.FileCount = 1 }), createTwoFiles},
	fault.FileSizeCapExceeded:     {400, harness.WithPolicy(func(p *limits.Policy) { p.FileSize = 5 }), createTwoFiles},
	fault.RevisionSizeCapExceeded: {400, harness.WithPolicy(func(p *limits.Policy) {
		p.ArtifactSize = 11
	}), createTwoFiles},
	fault.RevisionCeilingExceeded: {429, harness.WithPolicy(func(p *limits.Policy) {
		p.Revisions = 1
	}), reviseAtTheCeiling},
	fault.WriteAllowanceExceeded: {429, harness.WithPolicy(func(p *limits.Policy) {
		p.NewArtifactsPerDay = limits.AllowanceShards
	}), publishOneTooMany},
	fault.RateLimitedActor:     {429, func(l *limits.Limits) { l.Actor.Limit = 1 }, whoamiTwice},
	fault.RateLimitedWorkspace: {429, func(l *limits.Limits) { l.Workspace.Limit = 1 }, whoamiTwice},
	fault.RateLimitedArtifact:  {429, func(l *limits.Limits) { harness.LimitReads(l, 1) }, readOften},
	fault.ProvisionRateLimited: {429, func(l *limits.Limits) { l.ProvisionGlobal.Limit = 1 }, harness.ProvisionAgain},
	fault.ProvisionUnavailable: {503, func(*limits.Limits) {}, provisionWithoutGate},
	fault.PowRequired:          {401, nil, provisionOften},
	fault.PowInvalid:           {400, nil, provisionWithoutWork},
	fault.DatabaseUnavailable:  {503, nil, askWithoutDatabase},
	fault.PinnedArtifactCap:    {409, mayPinOne, pinAsAMember},
	fault.StorageUnavailable:   {503, nil, finalizeWithoutStorage},
	fault.PatchConflict:        {422, nil, reviseByAStrangePatch},
	fault.FeedbackConflict:     {409, nil, addressByADraft},
	fault.Internal:             {500, nil, viewDamagedFiles},
}

// unprovokable are the codes that no request meets, with the reason.
var unprovokable = map[fault.Code]string{
	fault.APIKeyNotFound:       "a key that is not there is not_found, as everything that the web API does not find",
	fault.APIKeyRevoked:        "a revoked key is refused with not_authenticated, before anything else is asked",
	fault.InvalidContentLength: "S3 itself takes the bytes and refuses other lengths, in XML",
	fault.UsagePolicyExceeded:  "declared by the interface; every policy has a code of its own",
}

func TestEveryCodeOfTheContractIsProvokedOrExplained(t *testing.T) {
	t.Parallel()
	shared := harness.NewBackendEnv(t)
	for _, code := range slices.Sorted(slices.Values(fault.Codes())) {
		how, can := provocations[code]
		if _, cannot := unprovokable[code]; can == cannot {
			t.Errorf("%s: provoke it or say why nothing can, not both", code)
		}
		if !can {
			continue
		}
		t.Run(string(code), func(t *testing.T) {
			p := shared
			if how.limits != nil {
				t.Parallel()
				p = harness.NewBackendEnv(t, func(o *stack.Options) { how.limits(&o.Limits) })
			}
			p.Clock.Advance(time.Minute) // in which nothing was provisioned yet
			a := how.ask(t, p, p.NewAgent(t))
			harness.WantRefused(t, a, how.status, code)
			if challenge := a.Header.Get("WWW-Authenticate"); (challenge != "") != (how.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate is %q", challenge)
			}
		})
	}
}

func askWithoutKey(t *testing.T, p *harness.BackendEnv, _ *wire.Agent) wire.Answer {
	return harness.Do(t, p.Anyone, "GET", p.Origins.API+"/v1/whoami", nil)
}

func askWithTwoKeys(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return p.SendRaw(t, "api", "GET /v1/whoami", "", "Authorization: Bearer "+g.Key, "Authorization: Bearer "+g.Key)
}

func createWithoutIdempotencyKey(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Do(t, g, "POST", g.At.UploadURL+"/v1/upload-sessions", wire.Declare("T", harness.Page("p")))
}

func createNothing(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Must(harness.Create(g, wire.NewKey(), "{}"))(t)
}

func listFromNowhere(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Do(t, g, "GET", g.At.APIURL+"/v1/artifacts?cursor=nowhere", nil)
}

func createAsReader(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	reader := p.NewKey(t, g, credential.Read)
	return harness.Must(harness.Create(reader, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
}

func askNowhere(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Do(t, g, "GET", g.At.APIURL+"/v1/nowhere", nil)
}

func deleteNothing(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Must(harness.Delete(g, id.NewArtifact()))(t)
}

func publishNoRevision(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Must(harness.Publish(g, wire.NewKey(), harness.DraftPage(t, g, "d").ArtifactID, id.NewRevision()))(t)
}

func replayALostSession(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	idem, r := wire.NewKey(), wire.Declare("T", harness.Page("p"))
	s := harness.Must(g.Create(ctx, idem, r))(t)
	p.Update(t, "U#"+string(s.UploadSessionID), "META", nil)
	return harness.Must(harness.Create(g, idem, r))(t)
}

func viewWithoutBytes(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	first := harness.PublishPage(t, g, "first")
	harness.Must(g.PublishFiles(ctx, "second", first.ArtifactID, harness.Page("second")))(t)
	p.Update(t, "A#"+string(first.ArtifactID), "R#"+string(first.RevisionID), map[string]any{"status": "retained"})
	return harness.Do(
		t,
		g,
		"GET",
		g.At.APIURL+"/v1/artifacts/"+string(first.ArtifactID)+"/revisions/"+string(first.RevisionID)+"/agent-view",
		nil,
	)
}

func reviseADraft(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	r := wire.Declare("T", harness.Page("p"))
	r.ArtifactID = harness.DraftPage(t, g, "d").ArtifactID
	return harness.Must(harness.Create(g, wire.NewKey(), r))(t)
}

func finalizeTwiceAtOnce(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	release, ended := make(chan struct{}), make(chan error)
	held := p.Faults.On("ListObjectsV2").Before(chaos.Hold(release))
	idem := wire.NewKey()
	go func() {
		_, err := g.Finalize(ctx, idem, s.UploadSessionID)
		ended <- err
	}()
	<-held.Reached()
	a := untilClaimed(t, p, g, idem, s.UploadSessionID)
	close(release)
	harness.NoError(t, <-ended)
	if again := harness.Must(harness.Finalize(g, idem, s.UploadSessionID))(t); again.Status != http.StatusOK {
		t.Errorf("after that the same request answers %d %s", again.Status, again.Code())
	}
	return a
}

// untilClaimed finalizes after the first attempt, which is held at its listing, has taken the command.
func untilClaimed(t *testing.T, p *harness.BackendEnv, g *wire.Agent, idem string, s id.Session) wire.Answer {
	t.Helper()
	for p.CountItems(t, p.Tables.Hot, "i:"+string(harness.TokenOf(t, g).Public)+":upload.session.finalize") == 0 {
		if t.Context().Err() != nil {
			t.Fatal("nobody claimed the command")
		}
	}
	return harness.Must(harness.Finalize(g, idem, s))(t)
}

func finalizeWithoutUpload(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	return harness.Must(harness.Finalize(g, wire.NewKey(), s.UploadSessionID))(t)
}

func finalizeWithAStranger(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	p.PutObject(t, g, s.UploadSessionID, "077", "stranger")
	return harness.Must(harness.Finalize(g, wire.NewKey(), s.UploadSessionID))(t)
}

func finalizeTooLate(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	p.Clock.Advance(limits.SessionLife)
	return harness.Must(harness.Finalize(g, wire.NewKey(), s.UploadSessionID))(t)
}

func createWithoutEntrypoint(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	r := wire.Declare("T", harness.Page("p"))
	r.Entrypoint = "other.html"
	return harness.Must(harness.Create(g, wire.NewKey(), r))(t)
}

func createTwoFiles(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	return harness.Must(harness.Create(g, wire.NewKey(), wire.Declare("T", wire.File{
		Path: "a",
		Body: []byte("sixsix"),
	}, wire.File{Path: "b", Body: []byte("twelve")})))(t)
}

func reviseByAStrangePatch(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	first := harness.PublishPage(t, g, "first")
	r := harness.Revise(first, "second")
	declared, diff := harness.Patch("index.html", "another file\n", "yet another\n")
	r.Files = []contract.DeclaredFile{declared}
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	harness.Must(g.Put(ctx, s.Files[0], diff.Body))(t)
	return harness.Must(harness.Finalize(g, wire.NewKey(), s.UploadSessionID))(t)
}

func addressByADraft(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	a := harness.PublishPage(t, g, "first").ArtifactID
	thread := harness.WriteAbout(t, g, a, contract.CreateThread{Body: "A remark"})
	d := harness.Must(g.Draft(ctx, wire.NewKey(), harness.DeclareRevision(a, "second"), harness.Page("second")))(t)
	return harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(a)+"/"+string(thread.ID),
		contract.AnswerThread{Addressed: &contract.Addressed{RevisionID: d.RevisionID}}, harness.KeyHeader()...)
}

func reviseAtTheCeiling(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	first := harness.PublishPage(t, g, "first")
	r := wire.Declare("second", harness.Page("second"))
	r.ArtifactID = first.ArtifactID
	return harness.Must(harness.Create(g, wire.NewKey(), r))(t)
}

// mayPinOne leaves claimed workspaces no place for pins.
func mayPinOne(l *limits.Limits) {
	l.Tiers = maps.Clone(l.Tiers)
	free := l.Tiers[limits.Free]
	free.LiveArtifacts = 1
	l.Tiers[limits.Free] = free
}

func pinAsAMember(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	w := harness.TokenOf(t, g).Workspace
	first, second := harness.PublishPage(t, g, "pinned"), harness.PublishPage(t, g, "not pinned")
	p.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": p.Options.Now()})
	who := p.AddMember(t, w)
	harness.TryAs(t, who, "POST", harness.PinPath(first.ArtifactID), nil, harness.KeyHeader()...)
	return harness.TryAs(t, who, "POST", harness.PinPath(second.ArtifactID), nil, harness.KeyHeader()...)
}

func whoamiTwice(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	harness.Do(t, g, "GET", g.At.APIURL+"/v1/whoami", nil)
	return harness.Do(t, g, "GET", g.At.APIURL+"/v1/whoami", nil)
}

func publishOneTooMany(t *testing.T, _ *harness.BackendEnv, g *wire.Agent) wire.Answer {
	for range limits.AllowanceShards {
		harness.PublishPage(t, g, "today")
	}
	last := harness.DraftPage(t, g, "tomorrow")
	return harness.Must(harness.Publish(g, wire.NewKey(), last.ArtifactID, last.RevisionID))(t)
}

func readOften(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	content := harness.PublishPage(t, g, "popular").RevisionContentURL
	for range limits.ReadsPerFile {
		p.WantContent(t, content, harness.Page("popular").Body)
	}
	return p.Get(t, content)
}

func provisionOften(t *testing.T, p *harness.BackendEnv, _ *wire.Agent) wire.Answer {
	for range limits.PowFree - 1 { // the agent's own was the first
		p.NewAgent(t)
	}
	return harness.ProvisionAgain(t, p, nil)
}

func provisionWithoutWork(t *testing.T, p *harness.BackendEnv, _ *wire.Agent) wire.Answer {
	var e contract.Envelope
	harness.Decode(t, provisionOften(t, p, nil), &e)
	idle := contract.ProvisionRequest{Challenge: e.Challenge, Solution: &contract.Solution{Nonce: e.Challenge.Nonce}}
	return harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", idle)
}

func provisionWithoutGate(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	p.Update(t, "CFG#provision", "C", nil)
	p.Clock.Advance(time.Minute)
	return harness.ProvisionAgain(t, p, g)
}

func askWithoutDatabase(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	p.Faults.On("BatchGetItem").Before(chaos.Fail(harness.ErrDown))
	return harness.Do(t, g, "GET", g.At.APIURL+"/v1/whoami", nil)
}

func finalizeWithoutStorage(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	p.Faults.On("ListObjectsV2").Before(chaos.Fail(harness.ErrDown))
	return harness.Must(harness.Finalize(g, wire.NewKey(), s.UploadSessionID))(t)
}

func viewDamagedFiles(t *testing.T, p *harness.BackendEnv, g *wire.Agent) wire.Answer {
	a := harness.PublishPage(t, g, "damaged")
	p.Update(t, "A#"+string(a.ArtifactID), "R#"+string(a.RevisionID), map[string]any{"files": []byte("no DEFLATE")})
	return harness.Do(t, g, "GET", g.At.APIURL+"/v1/artifacts/"+string(a.ArtifactID)+"/agent-view", nil)
}
