package lifecycle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

const exportPath = "/v1/web/workspace/export"

// exporter is a member whose workspace is exported.
type exporter struct {
	*harness.JobEnv
	agent  *wire.Agent
	member *harness.Member
}

func newExporter(t testing.TB, change ...func(*stack.Options)) *exporter {
	t.Helper()
	s := harness.NewJobEnv(t, change...)
	m := s.NewClaimant(t)
	return &exporter{
		JobEnv: s,
		agent:  m.Agent,
		member: s.AddMember(t, m.Workspace),
	}
}

// signIn gives the member a token of a sign-in of this moment.
func (x *exporter) signIn(t testing.TB) {
	t.Helper()
	x.member = x.GrantTo(t, x.member, "cli", x.Origins.API)
}

// ask asks for an export.
func (x *exporter) ask(t testing.TB) contract.Export {
	t.Helper()
	out := harness.CallAs[contract.ExportStatus](t, x.member, 202, "POST", exportPath, nil, harness.KeyHeader()...)
	return *out.Export
}

// look reads the export.
func (x *exporter) look(t testing.TB) contract.Export {
	t.Helper()
	out := harness.CallAs[contract.ExportStatus](t, x.member, 200, "GET", exportPath, nil)
	if out.Export == nil {
		t.Fatal("there is no export")
	}
	return *out.Export
}

// run runs the function that makes exports, and checks the invariants.
func (x *exporter) run(t testing.TB) {
	t.Helper()
	harness.NoError(t, x.Bundler.Run(ctx))
	x.CheckInvariants(t)
}

// ready runs the function until the export is ready, and returns it.
func (x *exporter) ready(t testing.TB) contract.Export {
	t.Helper()
	x.run(t)
	e := x.look(t)
	if e.Status != "ready" || e.ReadyAt == nil || e.ExpiresAt == nil || len(e.Volumes) == 0 {
		t.Fatalf("%+v", e)
	}
	return e
}

// volume is an archive of an export, unpacked.
type volume struct {
	export.Manifest
	files  map[string]string // but the manifest and the events
	events []contract.AuditRow
}

// unpacked downloads the archives of an export and checks each against what the API says of it.
func (x *exporter) unpacked(t testing.TB, e contract.Export) (out []volume) {
	t.Helper()
	for n, v := range e.Volumes {
		if v.URL == nil || v.Number != n+1 {
			t.Fatalf("%+v", v)
		}
		a := x.Get(t, *v.URL)
		if digest := tree.DigestOf(string(a.Body)); a.Status != 200 || int64(len(a.Body)) != v.SizeBytes ||
			digest.String() != v.SHA256 {
			t.Fatalf("archive %d: %d, %d bytes of %d, SHA-256 %s of %s", v.Number, a.Status, len(a.Body), v.SizeBytes, digest,
				v.SHA256)
		}
		if want := `attachment; filename="` + v.FileName + `"`; a.Header.Get("Content-Disposition") != want {
			t.Errorf("saved as %s, want %s", a.Header.Get("Content-Disposition"), want)
		}
		one := volume{files: unpack(t, a.Body)}
		harness.NoError(t, json.Unmarshal([]byte(one.files[export.ManifestName]), &one.Manifest))
		lines := bufio.NewScanner(strings.NewReader(one.files[export.EventsName]))
		for lines.Scan() {
			var row contract.AuditRow
			harness.NoError(t, json.Unmarshal(lines.Bytes(), &row))
			one.events = append(one.events, row)
		}
		delete(one.files, export.ManifestName)
		delete(one.files, export.EventsName)
		if one.SchemaVersion != "1" || one.Volume != v.Number || one.Last != (v.Number == len(e.Volumes)) ||
			one.Events != len(one.events) {
			t.Errorf("the manifest of archive %d says %+v", v.Number, one.Manifest)
		}
		out = append(out, one)
	}
	return out
}

// wantExported checks that the archives hold exactly these files of an artifact's revision, with the manifest's digests.
func wantExported(t testing.TB, volumes []volume, a id.Artifact, number int, files ...wire.File) {
	t.Helper()
	found := 0
	for _, v := range volumes {
		for _, one := range v.Artifacts {
			for _, r := range one.Revisions {
				if one.ID == a && r.Number == number {
					found++
					v.wantRevision(t, one, r, files)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("revision %d of %s is there %d times", number, a, found)
	}
}

func (v volume) wantRevision(t testing.TB, a export.Artifact, r export.Revision, files []wire.File) {
	t.Helper()
	if len(r.Files) != len(files) {
		t.Errorf("revision %d has %d files, want %d", r.Number, len(r.Files), len(files))
	}
	for _, want := range files {
		i := slices.IndexFunc(r.Files, func(f export.File) bool { return f.Path == want.Path })
		if i < 0 {
			t.Errorf("%s is missing", want.Path)
			continue
		}
		f := r.Files[i]
		body, there := v.files[f.Archive]
		if !there || body != string(want.Body) || f.SizeBytes != int64(len(want.Body)) ||
			f.SHA256 != tree.DigestOf(string(want.Body)).String() {
			t.Errorf("%s is %q in the archive (there: %t), %+v", want.Path, body, there, f)
		}
		if !strings.HasPrefix(f.Archive, "artifacts/") ||
			!strings.Contains(f.Archive, string(a.ID)+fmt.Sprintf("/r%d/", r.Number)) {
			t.Errorf("%s is at %s", want.Path, f.Archive)
		}
	}
}

// archived counts the files of all archives, and all that is skipped.
func archived(volumes []volume) (files int, skipped []export.Skipped) {
	for _, v := range volumes {
		files += len(v.files)
		skipped = append(skipped, v.Skipped...)
	}
	return files, skipped
}

func TestAnExportHoldsWhatAWorkspaceHas(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	one := publishPair(t, x.agent, "first words")
	harness.Must(x.agent.PublishFiles(ctx, "second words", one.ArtifactID, harness.Page("second words"), logo))(t)
	odd := wire.File{Path: "ünï/why?.txt", Body: []byte("odd")}
	empty := wire.File{Path: "empty.txt"}
	two := harness.Must(x.agent.PublishFiles(ctx, "../../Odd: one", "", harness.Page("x"), odd, empty))(t)
	draft := harness.Must(x.agent.Draft(ctx, wire.NewKey(), wire.Declare("draft", harness.Page("d")), harness.Page("d")))(t)

	if e := harness.CallAs[contract.ExportStatus](t, x.member, 200, "GET", exportPath, nil); e.Export != nil {
		t.Errorf("before anybody asked: %+v", e.Export)
	}
	asked := x.ask(t)
	if asked.Status != "pending" || asked.RetryAfterSeconds < 1 || len(asked.Volumes) > 0 || asked.ExpiresAt != nil {
		t.Errorf("asked: %+v", asked)
	}
	e := x.ready(t)
	if e.ID != asked.ID || e.ArtifactsDone != 3 || e.ArtifactsTotal != 3 || e.Skipped != 1 || len(e.Volumes) != 1 ||
		e.ExpiresAt.Sub(e.ReadyAt.Time) != limits.ExportLife || e.FailureReason != nil {
		t.Errorf("ready: %+v", e)
	}
	volumes := x.unpacked(t, e)
	wantExported(t, volumes, one.ArtifactID, 1, harness.Page("first words"), logo)
	wantExported(t, volumes, one.ArtifactID, 2, harness.Page("second words"), logo)
	wantExported(t, volumes, two.ArtifactID, 1, harness.Page("x"), odd, empty)
	m := volumes[0]
	if files, skipped := archived(volumes); files != 7 || len(skipped) != 1 ||
		skipped[0] != (export.Skipped{Artifact: draft.ArtifactID, Reason: export.NotPublished}) {
		t.Errorf("%d files, skipped %v", files, skipped)
	}
	if len(m.Members) != 1 || m.Members[0].ID != x.member.ID || m.Members[0].Email != "someone@id.test" ||
		len(m.APIKeys) != 1 || m.Workspace.ID != x.member.Workspace {
		t.Errorf("%+v", m.Manifest)
	}
	if len(m.events) == 0 || !slices.ContainsFunc(m.events, func(r contract.AuditRow) bool {
		return r.Action == "workspace.export.created" && r.Target == "workspace_export:"+string(e.ID)
	}) {
		t.Errorf("events: %+v", m.events)
	}
	for name := range m.files {
		if strings.Contains(name, "..") || strings.ContainsAny(name, `?:\`) {
			t.Errorf("%q is no safe name", name)
		}
	}
}

func TestAnExportHoldsNoSecret(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	p := publishPair(t, x.agent, "linked")
	link := harness.CreateLink(t, x.agent, p.ArtifactID, contract.CreateLink{Type: "share"})
	url := harness.MintLink(t, x.agent, link.ID)
	_, blob, err := wire.SplitLink(url)
	harness.NoError(t, err)
	x.ask(t)
	e := x.ready(t)
	v := x.unpacked(t, e)[0]
	a := v.Artifacts[0]
	if a.Visibility != "unlisted" || len(a.Links) != 1 || a.Links[0].ID != link.ID {
		t.Errorf("%+v", a)
	}
	whole := string(x.Get(t, *e.Volumes[0].URL).Body)
	for _, secret := range []string{blob, x.agent.Key, x.member.Key} {
		if strings.Contains(whole, secret) {
			t.Error("it holds a secret")
		}
	}
}

func TestAnEmptyWorkspaceHasAnExport(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	x.ask(t)
	e := x.ready(t)
	v := x.unpacked(t, e)
	if files, skipped := archived(v); len(v) != 1 || files != 0 || len(skipped) != 0 || len(v[0].Artifacts) != 0 {
		t.Errorf("%+v", v)
	}
}

func TestTheSameStateGivesTheSameArchives(t *testing.T) {
	t.Parallel()
	x := newExporter(t, harness.Unlimited)
	publishPair(t, x.agent, "same")
	var digests []string
	for range 2 {
		x.ask(t)
		v := x.unpacked(t, x.ready(t))[0]
		v.AsOf = contract.Time{}
		v.events, v.Events = nil, 0 // each export is an event more
		for n := range v.APIKeys {
			v.APIKeys[n].LastUsedAt = nil
		}
		text := harness.Must(v.Manifest.Encode())(t)
		names := slices.Sorted(func(yield func(string) bool) {
			for name, body := range v.files {
				if !yield(name + "\x00" + body) {
					return
				}
			}
		})
		digests = append(digests, tree.DigestOf(string(text)+strings.Join(names, "\x00")).String())
		x.Clock.Advance(time.Minute)
	}
	if digests[0] != digests[1] {
		t.Error("they differ")
	}
}

func TestT47OnlyAnAdminWhoHasJustSignedInExports(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	publishPair(t, x.agent, "mine")
	x.ask(t)
	e := x.ready(t)
	reader := x.AddMember(t, x.member.Workspace, "read", "publish")
	for name, who := range map[string]*harness.Member{
		"a member without the scope": reader,
		"a stranger":                 x.member.WithToken("nonsense"),
		"an API key":                 x.member.WithToken(x.agent.Key),
	} {
		want := 401
		if who == reader {
			want = 403
		}
		for _, method := range []string{"GET", "POST"} {
			if a := harness.TryAs(t, who, method, exportPath, nil, harness.KeyHeader()...); a.Status != want {
				t.Errorf("%s: %s answers %d", name, method, a.Status)
			}
		}
	}
	other := x.AddMember(t, x.NewClaimant(t).Workspace)
	if o := harness.CallAs[contract.ExportStatus](t, other, 200, "GET", exportPath, nil); o.Export != nil {
		t.Error("another workspace sees the export")
	}
	x.Clock.Advance(limits.FreshSignIn)
	a := harness.TryAs(t, x.member, "POST", exportPath, nil, harness.KeyHeader()...)
	if a.Status != 403 || !strings.Contains(a.Message(), "sign in again") {
		t.Errorf("an old sign-in: %d %s", a.Status, a.Message())
	}
	if v := x.look(t).Volumes; len(v) != 1 || v[0].URL != nil {
		t.Errorf("an old sign-in sees %+v", v)
	}
	x.signIn(t)
	if v := x.look(t).Volumes; v[0].URL == nil {
		t.Error("a fresh sign-in sees no URL")
	}
	if a := x.Get(t, *e.Volumes[0].URL); a.Status != 200 {
		t.Errorf("the URL of before answers %d", a.Status)
	}
	x.Clock.Advance(limits.ExportURLLife)
	if a := x.Get(t, *e.Volumes[0].URL); a.Status != 404 {
		t.Errorf("a URL that is too old answers %d", a.Status)
	}
}

func TestF92TwoRequestsAtOnceMakeOneExport(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	answers := make(chan wire.Answer, 4)
	for range cap(answers) {
		go func() { answers <- harness.TryAs(t, x.member, "POST", exportPath, nil, harness.KeyHeader()...) }()
	}
	ids := map[id.Export]bool{}
	for range cap(answers) {
		a := <-answers
		if a.Status != 202 {
			t.Fatal(a.Status, a.Message())
		}
		var out contract.ExportStatus
		harness.Decode(t, a, &out)
		ids[out.Export.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("they got %v", ids)
	}
	x.ready(t)
	created := harness.CallAs[contract.AuditList](t, x.member, 200, "GET", "/v1/web/audit", nil).Items
	n := 0
	for _, row := range created {
		if row.Action == "workspace.export.created" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d exports are recorded", n)
	}
}

func TestAskingAgainWithTheSameKeyAsksOnce(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	key := harness.KeyHeader()
	first := harness.CallAs[contract.ExportStatus](t, x.member, 202, "POST", exportPath, nil, key...).Export
	x.ready(t)
	again := harness.CallAs[contract.ExportStatus](t, x.member, 202, "POST", exportPath, nil, key...).Export
	if again.ID != first.ID || again.Status != "ready" {
		t.Errorf("%+v, then %+v", first, again)
	}
	next := x.ask(t)
	replaced := harness.CallAs[contract.ExportStatus](t, x.member, 202, "POST", exportPath, nil, key...).Export
	if next.ID == first.ID || replaced.ID != first.ID || replaced.Status != "expired" {
		t.Errorf("%+v, replaced by %+v", replaced, next)
	}
}

func TestF93ANewExportReplacesTheLastOne(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	publishPair(t, x.agent, "replaced")
	x.ask(t)
	old := x.ready(t)
	x.ask(t)
	if a := x.Get(t, *old.Volumes[0].URL); a.Status != 404 {
		t.Errorf("the replaced one answers %d", a.Status)
	}
	x.CheckInvariants(t)
	x.RunJobs(t)
	e := x.look(t)
	if e.ID == old.ID || e.Status != "ready" {
		t.Errorf("%+v", e)
	}
	x.unpacked(t, e)
	x.RunCollector(t)
}

func TestADayHasFiveExports(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	for range limits.Default().Exports.Limit {
		x.ask(t)
		x.run(t)
	}
	a := harness.TryAs(t, x.member, "POST", exportPath, nil, harness.KeyHeader()...)
	if a.Status != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Status, a.Message())
	}
	if e := x.look(t); e.Status != "ready" {
		t.Errorf("%+v", e)
	}
}

func TestAnExportExpiresWithItsArchives(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	x.ask(t)
	e := x.ready(t)
	x.Clock.Advance(limits.ExportLife)
	x.signIn(t)
	if e := x.look(t); e.Status != "expired" || len(e.Volumes) > 0 {
		t.Errorf("%+v", e)
	}
	if a := x.Get(t, *e.Volumes[0].URL); a.Status != 404 {
		t.Errorf("its archive answers %d", a.Status)
	}
	x.RunJobs(t)
	x.RunCollector(t)
	x.signIn(t)
	if e := x.look(t); e.Status != "expired" {
		t.Errorf("after the jobs: %+v", e)
	}
	x.ask(t)
	if e := x.ready(t); e.ID == "" {
		t.Error("no new one")
	}
}

func TestTheInvariantsSeeArchivesThatNobodyOwns(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	x.ask(t)
	x.ready(t)
	for name, breach := range map[string]struct {
		set  map[string]any
		told string
	}{
		"an export that never expires":   {map[string]any{"g2p": nil}, "I2"},
		"archives of another export":     {map[string]any{"id": string(id.NewExport())}, "I2"},
		"one that is to be made again":   {map[string]any{"g2p": "DUE#EXPORT#0"}, "I2"},
		"one that failed and is not due": {map[string]any{"status": "failed", "g2p": nil}, "I2"},
	} {
		t.Run(name, func(t *testing.T) {
			repair := x.Damage(t, x.Tables.Core, "W#"+string(x.member.Workspace), "EXPORT", breach.set)
			x.WantBreach(t, breach.told)
			repair()
		})
	}
	x.CheckInvariants(t)
}

func TestALockedArtifactStaysOutOfAnExport(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	p := publishPair(t, x.agent, "locked")
	harness.Lock(t, x.NewOperator(t), "artifact", string(p.ArtifactID))
	x.ask(t)
	files, skipped := archived(x.unpacked(t, x.ready(t)))
	if files != 0 || len(skipped) != 1 || skipped[0].Reason != export.IsLocked {
		t.Errorf("%d files, %v", files, skipped)
	}
}
