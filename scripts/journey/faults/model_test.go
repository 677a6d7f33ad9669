package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// modelled is a published artifact as it has to be.
type modelled struct {
	last  contract.Published
	files map[string]string
}

// modelRun publishes and deletes at random beside a model, while the process dies at random calls.
type modelRun struct {
	*harness.JobEnv
	g      *wire.Agent
	random *rand.Rand
	live   []*modelled
	gone   []id.Artifact
	drafts int // that were never published, each of which takes a day of the key's seven
}

// TestRandomSessionsAndDeathsLeaveWhatWasAcknowledged makes revisions whole, in parts and by patches, and deletes
// artifacts. Each request and each round of the jobs may die before or after any of its AWS calls, and is then repeated.
// What the deployment shows is compared with the model, and its tables and bucket with the invariants.
func TestRandomSessionsAndDeathsLeaveWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	const steps = 18
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := harness.NewJobEnv(t, func(o *stack.Options) {
				o.Limits.Off = true
				harness.WithPolicy(func(p *limits.Policy) {
					p.FileCount = limits.FilesPerTree
					p.DefaultLife, p.MaxLife = 7*limits.Day, 7*limits.Day
				})(&o.Limits)
			})
			m := &modelRun{JobEnv: s, g: s.NewAgent(t), random: rand.New(rand.NewPCG(seed, 53))}
			for n := range steps {
				m.step(t)
				m.compare(t)
				if n%9 == 8 {
					m.collect(t)
				}
			}
		})
	}
}

// step does one thing and forgets nothing of it.
func (m *modelRun) step(t *testing.T) {
	kind := m.random.IntN(10)
	switch {
	case len(m.live) == 0 || kind < 3 && len(m.live) < 4:
		files := m.anyFiles()
		if p, ok := m.publish(t, wire.Declare("New", wireFiles(files)...), wireFiles(files)); ok {
			m.live = append(m.live, &modelled{p, files})
		}
	case kind < 5:
		m.whole(t, m.any())
	case kind < 9:
		m.parts(t, m.any())
	default:
		n := m.random.IntN(len(m.live))
		a := m.live[n].last.ArtifactID
		m.survive(t, func() (wire.Answer, error) { return harness.Delete(m.g, a) })
		m.live, m.gone = slices.Delete(m.live, n, n+1), append(m.gone, a)
	}
}

func (m *modelRun) any() *modelled { return m.live[m.random.IntN(len(m.live))] }

// anyBody returns one of a few texts, so that artifacts share bytes.
func (m *modelRun) anyBody() string { return harness.Lines(8, fmt.Sprint("word ", m.random.IntN(12))) }

// anyFiles returns files for a whole revision. Some have more files than a view has at first.
func (m *modelRun) anyFiles() map[string]string {
	files := map[string]string{"index.html": m.anyBody()}
	n := m.random.IntN(6)
	if m.random.IntN(6) == 0 {
		n = limits.ViewFiles + 5
	}
	for i := range n {
		files[fmt.Sprintf("f%03d.txt", i)] = m.anyBody()
	}
	return files
}

func wireFiles(files map[string]string) (out []wire.File) {
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(files))) { // index.html opens, it comes first
		out = append(out, wire.File{Path: path, Body: []byte(files[path])})
	}
	return out
}

// whole replaces all files of an artifact.
func (m *modelRun) whole(t *testing.T, a *modelled) {
	files := m.anyFiles()
	r := wire.Declare("Whole", wireFiles(files)...)
	r.ArtifactID = a.last.ArtifactID
	if p, ok := m.publish(t, r, wireFiles(files)); ok {
		a.last, a.files = p, files
	}
}

// parts deletes, replaces, patches and adds some files of an artifact.
func (m *modelRun) parts(t *testing.T, a *modelled) {
	r, files := harness.Revise(a.last, "Part"), maps.Clone(a.files)
	r.BaseFiles = len(files)
	var sent []wire.File
	send := func(declared contract.DeclaredFile, upload wire.File, after string) {
		r.Files, sent = append(r.Files, declared), append(sent, upload)
		files[declared.Path] = after
	}
	whole := func(path string) {
		body := m.anyBody()
		one := wire.File{Path: path, Body: []byte(body)}
		send(wire.Declare("", one).Files[0], one, body)
	}
	for _, path := range slices.Sorted(maps.Keys(a.files)) {
		switch n := m.random.IntN(9); {
		case n == 0 && path != "index.html":
			r.DeletedPaths = append(r.DeletedPaths, path)
			delete(files, path)
		case n == 1:
			whole(path)
		case n == 2:
			after := a.files[path] + fmt.Sprintf("more %d\n", m.random.IntN(3))
			declared, diff := harness.Patch(path, a.files[path], after)
			send(declared, diff, after)
		}
	}
	whole(fmt.Sprintf("new%d.txt", m.random.IntN(3)))
	if p, ok := m.publish(t, r, sent); ok {
		a.last, a.files = p, files
	}
}

// publish takes a session to its end, or lets it lie somewhere.
func (m *modelRun) publish(t *testing.T, r contract.CreateSession, files []wire.File) (p contract.Published, ok bool) {
	key, leaves := wire.NewKey(), m.random.IntN(12)
	r.Resumable = m.random.IntN(2) == 0
	create := func() (wire.Answer, error) { return harness.Create(m.g, key, r) }
	var u contract.Session
	harness.Decode(t, m.survive(t, create), &u)
	for n, to := range u.Files {
		if n > 0 && m.random.IntN(20) == 0 { // the client lost the answers until here
			harness.Decode(t, m.survive(t, create), &u)
			to = u.Files[n]
		}
		put := harness.Must(m.g.Put(ctx, to, files[n].Body))(t)
		if put.Status != http.StatusOK && put.Status != http.StatusPreconditionFailed {
			t.Fatalf("the PUT of %s answers %d %s", files[n].Path, put.Status, put.Body)
		}
		if leaves == 0 {
			return p, false
		}
	}
	m.survive(t, func() (wire.Answer, error) { return harness.Finalize(m.g, key, u.UploadSessionID) })
	if leaves == 1 && m.drafts < 2 { // until its life ends, because no other revision can be made meanwhile
		m.drafts++
		m.Clock.Advance(limits.DraftLife + time.Minute)
		m.jobs(t)
		return p, false
	}
	harness.Decode(t, m.survive(t, func() (wire.Answer, error) {
		return harness.Publish(m.g, key, u.ArtifactID, u.RevisionID)
	}), &p)
	return p, true
}

// survive sends a request whose process may die before or after any of its first calls, and repeats it.
func (m *modelRun) survive(t *testing.T, ask func() (wire.Answer, error)) wire.Answer {
	t.Helper()
	m.dieAt(m.Faults, 12)
	a, err := ask()
	m.Revive()
	for tries := 0; err == nil && a.Status != http.StatusOK && tries < 3; tries++ {
		if a.Code() == fault.IdempotencyInFlight {
			m.Clock.Advance(limits.FinalizeLease + time.Millisecond)
		}
		a, err = ask()
	}
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("it answers %d %s, %v", a.Status, a.Body, err)
	}
	return a
}

// dieAt lets the process die at one of its next calls, every other time.
func (m *modelRun) dieAt(faults *chaos.Injector, calls int) {
	rule := faults.On("").Nth(1 + m.random.IntN(2*calls))
	if m.random.IntN(2) == 0 {
		rule.Before(chaos.Crash)
	} else {
		rule.After(chaos.Crash)
	}
}

// jobs runs the jobs as a process that may die, and then to their end.
func (m *modelRun) jobs(t *testing.T) {
	t.Helper()
	m.Clock.Advance(limits.UploadPatience)
	for range 2 {
		m.dieAt(m.JobFaults, 30)
		process := chaos.Process(ctx)
		err := m.Host.Run(process)
		m.JobFaults.Clear()
		if !chaos.Died(process) {
			harness.NoError(t, err)
		}
	}
	m.RunJobs(t)
}

// collect lets the bytes of what ended be deleted.
func (m *modelRun) collect(t *testing.T) {
	t.Helper()
	m.jobs(t)
	m.Clock.Advance(limits.CollectAfter)
	m.jobs(t)
	m.compare(t)
}

// compare reads every artifact and checks the invariants.
func (m *modelRun) compare(t *testing.T) {
	t.Helper()
	for _, a := range m.live {
		got := m.digests(t, a)
		want := map[string]string{}
		for path, body := range a.files {
			want[path] = wire.Digest([]byte(body))
		}
		if !maps.Equal(got, want) {
			t.Fatalf("revision %s has %v, want %v", a.last.RevisionID, got, want)
		}
	}
	for _, a := range m.gone {
		answer := harness.Do(t, m.g, "GET", m.g.At.APIURL+"/v1/artifacts/"+string(a)+"/agent-view", nil)
		harness.WantRefused(t, answer, http.StatusNotFound, fault.NotFound)
	}
	m.CheckInvariants(t)
}

// digests reads all pages of the files of an artifact, and its entrypoint.
func (m *modelRun) digests(t *testing.T, a *modelled) map[string]string {
	t.Helper()
	out, at := map[string]string{}, m.g.At.APIURL+"/v1/artifacts/"+string(a.last.ArtifactID)+"/agent-view"
	for query := ""; ; {
		var page contract.AgentView
		harness.Decode(t, harness.Do(t, m.g, "GET", at+query, nil), &page)
		for _, f := range page.Files {
			out[f.Path] = f.SHA256
		}
		if query == "" {
			m.WantContent(t, page.RevisionContentURL, []byte(a.files["index.html"]))
		}
		if page.FilesNextCursor == "" {
			return out
		}
		query = "?files_cursor=" + url.QueryEscape(page.FilesNextCursor)
	}
}
