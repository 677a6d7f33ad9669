package lifecycle

import (
	"bufio"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/exported"
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
func (e *exporter) signIn(t testing.TB) {
	t.Helper()
	e.member = e.GrantTo(t, e.member, "cli", e.Origins.API)
}

// ask asks for an export.
func (e *exporter) ask(t testing.TB) contract.Export {
	t.Helper()
	out := harness.CallAs[contract.ExportStatus](t, e.member, 202, "POST", exportPath, nil, harness.KeyHeader()...)
	return *out.Export
}

// look reads the export.
func (e *exporter) look(t testing.TB) contract.Export {
	t.Helper()
	out := harness.CallAs[contract.ExportStatus](t, e.member, 200, "GET", exportPath, nil)
	if out.Export == nil {
		t.Fatal("there is no export")
	}
	return *out.Export
}

// run runs the function that makes exports, and checks the invariants.
func (e *exporter) run(t testing.TB) {
	t.Helper()
	harness.NoError(t, e.Bundler.Run(ctx))
	e.CheckInvariants(t)
}

// ready runs the function until the export is ready, and returns it.
func (e *exporter) ready(t testing.TB) contract.Export {
	t.Helper()
	e.run(t)
	made := e.look(t)
	if made.Status != "ready" || made.ReadyAt == nil || made.ExpiresAt == nil || len(made.Volumes) == 0 {
		t.Fatalf("%+v, want it ready, with volumes", made)
	}
	return made
}

// volume is an archive of an export, unpacked.
type volume struct {
	exported.Archive // its files but the manifest and the events
	events           []contract.AuditRow
}

// unpacked downloads the archives of an export and checks each against what the API says of it.
func (e *exporter) unpacked(t testing.TB, made contract.Export) (out []volume) {
	t.Helper()
	for n, v := range made.Volumes {
		if v.URL == nil || v.Number != n+1 {
			t.Fatalf("%+v, want a URL and the numbers in order", v)
		}
		a := e.Get(t, *v.URL)
		if digest := tree.DigestOf(string(a.Body)); a.Status != 200 || int64(len(a.Body)) != v.SizeBytes ||
			digest.String() != v.SHA256 {
			t.Fatalf("archive %d: %d, %d bytes of %d, SHA-256 %s of %s", v.Number, a.Status, len(a.Body), v.SizeBytes, digest,
				v.SHA256)
		}
		if want := `attachment; filename="` + v.FileName + `"`; a.Header.Get("Content-Disposition") != want {
			t.Errorf("saved as %s, want %s", a.Header.Get("Content-Disposition"), want)
		}
		one := volume{Archive: exported.Archive{Files: unpack(t, a.Body)}}
		harness.NoError(t, json.Unmarshal([]byte(one.Files[export.ManifestName]), &one.Manifest))
		lines := bufio.NewScanner(strings.NewReader(one.Files[export.EventsName]))
		for lines.Scan() {
			var row contract.AuditRow
			harness.NoError(t, json.Unmarshal(lines.Bytes(), &row))
			one.events = append(one.events, row)
		}
		delete(one.Files, export.ManifestName)
		delete(one.Files, export.EventsName)
		if one.SchemaVersion != "2" || one.Volume != v.Number || one.Last != (v.Number == len(made.Volumes)) ||
			one.Events != len(one.events) || (v.Number == 1) != (len(one.Members) == 1) {
			t.Errorf("the manifest of archive %d says %+v", v.Number, one.Manifest)
		}
		out = append(out, one)
	}
	return out
}

// rebuilt returns the files of archives by revision and path.
func rebuilt(t testing.TB, volumes []volume) map[exported.Revision]map[string]string {
	t.Helper()
	var all []exported.Archive
	for _, v := range volumes {
		all = append(all, v.Archive)
	}
	return harness.Must(exported.Revisions(all))(t)
}

// wantExported checks that the archives hold exactly these files of an artifact's revision.
func wantExported(t testing.TB, volumes []volume, a id.Artifact, number int, files ...wire.File) {
	t.Helper()
	got, want := rebuilt(t, volumes)[exported.Revision{Artifact: a, Number: number}], map[string]string{}
	for _, f := range files {
		want[f.Path] = string(f.Body)
	}
	if !maps.Equal(got, want) {
		t.Errorf("revision %d of %s has %q", number, a, slices.Sorted(maps.Keys(got)))
	}
}

// archived counts the files of all archives, and all that is skipped.
func archived(volumes []volume) (files int, skipped []export.Skipped) {
	for _, v := range volumes {
		files += len(v.Files)
		skipped = append(skipped, v.Skipped...)
	}
	return files, skipped
}

func TestAnExportHoldsWhatAWorkspaceHasAndNoSecret(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	one := publishPair(t, x.agent, "first words")
	harness.Must(x.agent.PublishFiles(ctx, "second words", one.ArtifactID, harness.Page("second words"), logo))(t)
	odd := wire.File{Path: "ünï/why?.txt", Body: []byte("odd")}
	empty := wire.File{Path: "empty.txt"}
	two := harness.Must(x.agent.PublishFiles(ctx, "../../Odd: one", "", harness.Page("x"), odd, empty))(t)
	draft := harness.DraftPage(t, x.agent, "draft")
	link := harness.CreateLink(t, x.agent, two.ArtifactID, contract.CreateLink{Type: "share"})
	_, blob, err := wire.SplitLink(harness.MintLink(t, x.agent, link.ID))
	harness.NoError(t, err)
	remark := harness.WriteAbout(t, x.agent, two.ArtifactID, contract.CreateThread{Body: "Why <b>odd</b>?"})
	harness.Answer(t, x.agent, two.ArtifactID, remark.ID, contract.AnswerThread{Reply: "Because"})

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
	at := slices.IndexFunc(m.Artifacts, func(a export.Artifact) bool { return a.Feedback != "" })
	if at < 0 {
		t.Fatal("no artifact has threads")
	}
	var discussed struct{ Threads []contract.Thread }
	harness.NoError(t, json.Unmarshal([]byte(m.Files[m.Artifacts[at].Feedback]), &discussed))
	if all := discussed.Threads; len(all) != 1 || all[0].ID != remark.ID || len(all[0].Items) != 2 ||
		all[0].Items[0].Text != "Why <b>odd</b>?" || all[0].Items[1].Text != "Because" || m.Artifacts[at].ID != two.ArtifactID {
		t.Errorf("the threads are %+v", all)
	}
	if m.Members[0].ID != x.member.ID || m.Members[0].Email != "someone@id.test" || len(m.APIKeys) != 1 ||
		m.Workspace.ID != x.member.Workspace {
		t.Errorf("%+v, want the member, the workspace and one key", m.Manifest)
	}
	if !slices.ContainsFunc(m.Artifacts, func(a export.Artifact) bool {
		return a.Visibility == "unlisted" && len(a.Links) == 1 && a.Links[0].ID == link.ID
	}) {
		t.Errorf("the link is not told: %+v", m.Artifacts)
	}
	if len(m.events) == 0 || !slices.ContainsFunc(m.events, func(r contract.AuditRow) bool {
		return r.Action == "workspace.export.created" && r.Target == "workspace_export:"+string(e.ID)
	}) {
		t.Errorf("events: %+v", m.events)
	}
	for name, text := range unpack(t, x.Get(t, *e.Volumes[0].URL).Body) {
		if strings.Contains(name, "..") || strings.ContainsAny(name, `?:\`) {
			t.Errorf("%q is no safe name", name)
		}
		for _, secret := range []string{blob, x.agent.Key, x.member.Key} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret", name)
			}
		}
	}
}

// TestF93AnExportEndsWhenANewOneReplacesItOrItsTimeIsOver exports a workspace that has nothing.
func TestF93AnExportEndsWhenANewOneReplacesItOrItsTimeIsOver(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	x.ask(t)
	old := x.ready(t)
	x.ask(t)
	x.WantGone(t, *old.Volumes[0].URL)
	x.CheckInvariants(t)
	x.RunJobs(t)
	e := x.look(t)
	if files, _ := archived(x.unpacked(t, e)); e.ID == old.ID || files != 0 {
		t.Errorf("%+v with %d files, want another export without files", e, files)
	}
	x.RunCollector(t)
	x.Clock.Advance(limits.ExportLife)
	for range 2 { // by the clock, and when the jobs were there
		x.signIn(t)
		if now := x.look(t); now.Status != "expired" || len(now.Volumes) > 0 {
			t.Errorf("%+v, want it expired, without volumes", now)
		}
		x.WantGone(t, *e.Volumes[0].URL)
		x.RunCollector(t)
	}
	x.signIn(t)
	x.ask(t)
	x.ready(t)
}
