package feedback

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// files are a page, a document and a table.
var files = []wire.File{
	{Path: "index.html", Body: []byte("<title>Tides</title><h1>Tides of\n the bay</h1><p>The axis has no unit.")},
	{Path: "notes.md", Body: []byte("# Notes\n\nThe *gauge* failed in May.\n")},
	{Path: "levels.csv", Body: []byte("month,level\nMay,3\nJune,4\n")},
	{Path: "map.png", Body: []byte("\x89PNG\r\n\x1a\n\x00")},
}

// discussed is a published artifact, and who writes about it.
type discussed struct {
	*harness.FaultEnv
	agent *wire.Agent
	contract.Published
}

func newDiscussed(t *testing.T) discussed {
	t.Helper()
	s := harness.NewFaultEnv(t, harness.Unlimited)
	g := s.NewAgent(t)
	return discussed{s, g, harness.Must(g.PublishFiles(t.Context(), "Tides", "", files...))(t)}
}

func (d discussed) write(t *testing.T, r contract.CreateThread) contract.ThreadSummary {
	t.Helper()
	return harness.WriteAbout(t, d.agent, d.ArtifactID, r)
}

// post sends a request about threads.
func (d discussed) post(t *testing.T, g *wire.Agent, path string, body any) wire.Answer {
	t.Helper()
	return harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(d.ArtifactID)+path, body, harness.KeyHeader()...)
}

func TestWhoFollowsAnArtifactLearnsWhatIsWrittenAndDealtWith(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	quote := &contract.Anchor{
		Kind:   "text",
		Exact:  "axis has",
		Prefix: "The ",
		Suffix: " no unit",
	}
	about := d.write(t, contract.CreateThread{Body: "Which unit?", Path: "index.html", Anchor: quote})
	if about.Seq != 1 || about.State != "open" || about.RevisionID != d.RevisionID || *about.Anchor.Verified != true ||
		!about.First.Untrusted || about.First.Trust != "agent" || about.First.Text != "Which unit?" {
		t.Errorf("a new thread is %+v", about)
	}
	lines := d.write(t, contract.CreateThread{
		Body:   "Is June measured?",
		Path:   "levels.csv",
		Anchor: &contract.Anchor{Kind: "lines", From: 3, To: 3},
	})
	first := harness.Threads(t, d.agent, d.ArtifactID, "?state=open")
	if first.Seq != 2 || first.Open != 2 || first.ChangesUntil != 2 || len(first.Threads) != 2 ||
		first.Threads[1].ID != lines.ID {
		t.Errorf("the open ones are %+v", first)
	}
	if news := harness.Threads(t, d.agent, d.ArtifactID, "?since=2"); len(news.Threads) > 0 || news.ChangesUntil != 2 {
		t.Errorf("without news it answers %+v", news)
	}
	next := harness.Must(d.agent.PublishFiles(t.Context(), "Tides", d.ArtifactID, files[1:]...))(t)
	mended := harness.Answer(t, d.agent, d.ArtifactID, about.ID, contract.AnswerThread{
		Reply:     "Metres",
		Addressed: &contract.Addressed{RevisionID: next.RevisionID, Note: "The axis says so"},
	})
	if mended.State != "addressed" || mended.Addressed.Number != 2 || mended.Addressed.Note.Text != "The axis says so" ||
		mended.Newest.Text != "Metres" || mended.Messages != 2 || mended.Seq != 3 {
		t.Errorf("addressed, it is %+v", mended)
	}
	news := harness.Threads(t, d.agent, d.ArtifactID, "?since=2")
	if len(news.Threads) != 1 || news.Threads[0].ID != about.ID || news.Open != 1 || news.ChangesUntil != 3 {
		t.Errorf("the news are %+v", news)
	}
	path := harness.FeedbackPath(d.ArtifactID) + "/" + string(about.ID)
	whole := harness.Call[contract.Thread](t, d.agent, 200, "GET", path, nil)
	if len(whole.Items) != 2 || whole.Items[0].Text != "Which unit?" || whole.Items[1].Text != "Metres" ||
		whole.PageInfo.HasMore {
		t.Errorf("its messages are %+v", whole.Items)
	}
	done := d.Events(t, d.agent)
	if done["feedback.created"] != 2 || done["feedback.addressed"] != 1 {
		t.Errorf("%v", done)
	}
}

func TestWhatIsNotThereIsNotWrittenAbout(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	text := func(path, exact string) contract.CreateThread {
		return contract.CreateThread{Body: "?", Path: path, Anchor: &contract.Anchor{Kind: "text", Exact: exact}}
	}
	at := func(path string, from, to int) contract.CreateThread {
		return contract.CreateThread{Body: "?", Path: path, Anchor: &contract.Anchor{Kind: "lines", From: from, To: to}}
	}
	for name, c := range map[string]struct {
		remark contract.CreateThread
		code   fault.Code // empty: it is taken
		says   string
	}{
		"a quote over lines":    {text("index.html", "Tides of the bay"), "", ""},
		"a quote of a document": {text("notes.md", "The gauge failed"), "", ""},
		"a quote of the markup": {text("notes.md", "*gauge*"), fault.InvalidRequest, "anchor_not_found"},
		"a quote of a picture":  {text("map.png", "PNG"), fault.InvalidRequest, "anchor_not_found"},
		"lines past the end":    {at("levels.csv", 3, 4), fault.InvalidRequest, "the last line of the file is 3"},
		"lines of a picture":    {at("map.png", 1, 1), fault.InvalidRequest, "because it is not text"},
		"a picture":             {contract.CreateThread{Body: "?", Path: "map.png"}, "", ""},
		"no such file":          {contract.CreateThread{Body: "?", Path: "none.html"}, fault.NotFound, ""},
		"no such revision":      {contract.CreateThread{Body: "?", RevisionID: id.NewRevision()}, fault.NotFound, ""},
		"no words":              {contract.CreateThread{Body: " \u200b\U000E0041"}, fault.InvalidRequest, "is empty"},
		"too many words":        {contract.CreateThread{Body: strings.Repeat("é", 4097)}, fault.InvalidRequest, "shorten it"},
		"a path of no file": {
			contract.CreateThread{Body: "?", Path: "a", Anchor: &contract.Anchor{Kind: "artifact"}},
			fault.InvalidRequest, "has no path",
		},
	} {
		a := d.post(t, d.agent, "", c.remark)
		if a.Status/100 == 2 != (c.code == "") || a.Code() != c.code || !strings.Contains(a.Message(), c.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	for _, query := range []string{"?since=abc", "?since=-1", "?state=closed", "?since=1&state=open"} {
		a := harness.Do(t, d.agent, "GET", d.agent.At.APIURL+harness.FeedbackPath(d.ArtifactID)+query, nil)
		harness.WantRefused(t, a, 400, fault.InvalidRequest)
	}
	if list := harness.Threads(t, d.agent, d.ArtifactID, ""); list.Seq != 3 || len(list.Threads) != 3 {
		t.Errorf("there are %d threads at %d", len(list.Threads), list.Seq)
	}
}

func TestWordsLoseWhatHidesInThem(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	thread := d.write(t, contract.CreateThread{Body: "a\x1b[31mb\u202ec\U000E0049\r\nمی\u200cخ <b>&"})
	if want := "a[31mbc\nمی\u200cخ <b>&"; thread.First.Text != want {
		t.Errorf("%q, want %q", thread.First.Text, want)
	}
}

func TestActsThatAThreadDoesNotAllowAreRefused(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	thread := d.write(t, contract.CreateThread{Body: "A remark"})
	next := harness.Must(d.agent.PublishFiles(t.Context(), "Tides", d.ArtifactID, files[:2]...))(t)
	draft := harness.Must(d.agent.Draft(t.Context(), wire.NewKey(), harness.DeclareRevision(d.ArtifactID, "draft"),
		harness.Page("draft")))(t).RevisionID
	harness.Answer(t, d.agent, d.ArtifactID, thread.ID,
		contract.AnswerThread{Addressed: &contract.Addressed{RevisionID: next.RevisionID}})
	by := func(r id.Revision) contract.AnswerThread {
		return contract.AnswerThread{Addressed: &contract.Addressed{RevisionID: r}}
	}
	other := harness.Must(d.agent.PublishFiles(t.Context(), "Other", "", files[0]))(t)
	for name, c := range map[string]struct {
		thread id.Thread
		answer contract.AnswerThread
		status int
		code   fault.Code
	}{
		"an older revision":    {thread.ID, by(d.RevisionID), 409, fault.FeedbackConflict},
		"a draft":              {thread.ID, by(draft), 409, fault.FeedbackConflict},
		"of another artifact":  {thread.ID, by(other.RevisionID), 404, fault.NotFound},
		"resolved by an agent": {thread.ID, contract.AnswerThread{Reply: "Done", Resolved: true}, 403, fault.Forbidden},
		"nothing":              {thread.ID, contract.AnswerThread{}, 400, fault.InvalidRequest},
		"no such thread":       {id.NewThread(), contract.AnswerThread{Reply: "?"}, 404, fault.NotFound},
		"what is no thread":    {"thr_1", contract.AnswerThread{Reply: "?"}, 404, fault.NotFound},
		"no revision":          {thread.ID, by(""), 400, fault.InvalidRequest},
	} {
		if a := d.post(t, d.agent, "/"+string(c.thread), c.answer); a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if list := harness.Threads(t, d.agent, d.ArtifactID, ""); list.Seq != 2 {
		t.Errorf("refusals count: %+v", list)
	}
	stranger := d.post(t, d.agent, "", contract.CreateThread{Body: "?"})
	path := d.agent.At.APIURL + harness.FeedbackPath(other.ArtifactID) + "/" + string(thread.ID)
	foreign := harness.Do(t, d.agent, "POST", path, contract.AnswerThread{Reply: "?"}, harness.KeyHeader()...)
	if harness.WantRefused(t, foreign, 404, fault.NotFound); stranger.Status != http.StatusCreated {
		t.Errorf("%d %s", stranger.Status, stranger.Body)
	}
}

func TestThreadsEndWithTheirArtifact(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	thread := d.write(t, contract.CreateThread{Body: "A remark"})
	gate, list := "A#"+string(d.ArtifactID), d.agent.At.APIURL+harness.FeedbackPath(d.ArtifactID)
	gone := func(what string) {
		t.Helper()
		for _, a := range []wire.Answer{
			harness.Do(t, d.agent, "GET", list, nil),
			harness.Do(t, d.agent, "GET", list+"/"+string(thread.ID), nil),
			d.post(t, d.agent, "", contract.CreateThread{Body: "?"}),
			d.post(t, d.agent, "/"+string(thread.ID), contract.AnswerThread{Reply: "?"}),
		} {
			if a.Status != http.StatusNotFound || a.Code() != fault.ArtifactNotFound {
				t.Errorf("%s: %d %s", what, a.Status, a.Body)
			}
		}
	}
	d.Update(t, gate, "META", map[string]any{"lock": "lkd_1"})
	gone("locked")
	d.Update(t, gate, "META", map[string]any{"lock": nil})
	harness.DeleteArtifact(t, d.agent, d.ArtifactID)
	gone("deleted")
}

// TestFiftyWhoWriteAtOnceEachCountOnce has every writer succeed or be told that nothing was written.
func TestFiftyWhoWriteAtOnceEachCountOnce(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	answers := d.Concurrently(t, 50, func(i int) (wire.Answer, error) {
		return d.agent.Do(t.Context(), "POST", d.agent.At.APIURL+harness.FeedbackPath(d.ArtifactID),
			contract.CreateThread{Body: fmt.Sprint("remark ", i)}, harness.KeyHeader()...)
	})
	taken := int64(0)
	for _, a := range answers {
		if a.Status == http.StatusCreated {
			taken++
		} else if a.Status != http.StatusServiceUnavailable {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	list := harness.Threads(t, d.agent, d.ArtifactID, "")
	if list.Seq != taken || taken == 0 || int64(list.Open) != taken {
		t.Errorf("%d were taken, the list says %d and %d", taken, list.Seq, list.Open)
	}
	t.Logf("%d of 50 were taken", taken)
}
