package app

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

// compares reads the page of a comparison.
func compares(t *testing.T, s *fakeServices, query string) string {
	t.Helper()
	return wantAnswer(t, query, signedIn(s.handler(), "GET", comparisonPage+query, nil), 200)
}

func TestThePageTellsWhatChanged(t *testing.T) {
	s := newServices()
	body := compares(t, s, "")
	expect.Has(t, "the page", body,
		"From revision 2", "to revision 3, the newest,", "1 added, 1 removed, 7 changed, 1 renamed",
		`<option value="`+oldID+`" selected>`, `<option value="`+newestID+`" selected>`,
		`href="#f3"`, `id="f3"`, // a file of this page
		"<del>48</del><ins>50</ins>", "<del>too windy</del><ins>calm enough</ins>", "3 blocks unchanged", // markdown by block
		"<del>30</del> <ins>33</ins>", `<th scope="col">bay</th>`, "1 row unchanged", // a table by cell
		"−</span><code>&lt;p&gt;There are 59 seals", "&#43;</span><code>&lt;p&gt;There are 62 seals", // anything else by line
		`id="f5-old-41"`, `id="f5-new-1"`, "No newline at end of file",
		"was <bdi>old name.txt</bdi>", "with the same contents", "This file is not text",
		`src="`+s.contentURL+`/v/plain/chart.png"`, `src="`+s.contentURL+`/v/scripts/chart.png"`, `value="both"`,
		`<span class="size">`, "7 bytes → 42 bytes", "/v/"+artifactID,
	)
	expect.Lacks(t, "the page", body, "same.txt", "<p>There are", draftID, firstID)
	r := signedIn(s.handler(), "GET", comparisonPage, nil)
	if policy := r.Header.Get(policyHeader); !strings.Contains(policy, "img-src 'self' "+s.contentURL+" data:") ||
		strings.Contains(policy, "frame-src") || r.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", r.Header)
	}
}

func TestViewsOfAComparison(t *testing.T) {
	for view, want := range map[string][]string{
		"unified": {`<div class="diff">`, `<code>- Harbour seals: 48</code>`, `<code>south,low,30,Bob</code>`, `name="view" value="unified"`},
		"split":   {`<div class="diff split">`, `<div class="diff-line same old">`, `<div class="diff-line removed old">`, `<div class="diff-line added new">`},
		"other":   {`<div class="words">`},
	} {
		body := compares(t, newServices(), "?view="+view)
		expect.Has(t, view, body, want...)
		if n := strings.Count(body, `aria-current="page">`); n != 2 { // of the sections and of the views
			t.Errorf("%s: %d are current", view, n)
		}
		for id, n := range idsOf(body) {
			if n > 1 {
				t.Errorf("%s: the id %s is there %d times", view, id, n)
			}
		}
	}
}

// idsOf counts the ids of a page.
func idsOf(body string) map[string]int {
	out := map[string]int{}
	for _, part := range strings.Split(body, ` id="`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		out[id]++
	}
	return out
}

func TestOneFileOfAComparison(t *testing.T) {
	body := compares(t, newServices(), "?path="+url.QueryEscape("old name.txt"))
	if strings.Count(body, `class="panel compared"`) != 1 || !strings.Contains(body, "All files") ||
		!strings.Contains(body, "path=notes.md") {
		t.Errorf("%s", body)
	}
	expect.Has(t, "one that is the same", compares(t, newServices(), "?path=same.txt"), "is the same in both revisions")
	s := newServices()
	s.comparisons.files.before = s.comparisons.files.after
	expect.Has(t, "no change", compares(t, s, ""), "Both revisions have the same files")
	expect.Has(t, "no other", compares(t, s, "?from="+oldID+"&to="+oldID), "Revision 2 is compared with itself")
	expect.Has(t, "the other way round", compares(t, newServices(), "?from="+newestID+"&to="+oldID),
		"From revision 3", `src="http://127.0.0.1:8703/v/plain/chart.png" alt="chart.png now"`)
}

func TestALongComparisonHasPages(t *testing.T) {
	s := newServices()
	s.comparisons.files = comparedFiles{map[string]string{}, map[string]string{}}
	for n := range 50 {
		path := fmt.Sprintf("f%02d.txt", n)
		s.comparisons.files.before[path], s.comparisons.files.after[path] = "old\n", "new\n"
	}
	h := s.handler()
	seen, next := 0, comparisonPage+"?view=unified"
	for page := 0; next != ""; page++ {
		body := text(t, signedIn(h, "GET", next, nil))
		seen += strings.Count(body, `class="panel compared"`)
		if !strings.Contains(body, "50 changed") || strings.Contains(body, "From the start") != (page > 0) {
			t.Fatalf("page %d: %s", page, body)
		}
		next = ""
		if _, link, more := strings.Cut(body, `<a class="button quiet" href="`+comparisonPage+"?after="); more {
			rest, _, _ := strings.Cut(link, `"`)
			next = comparisonPage + "?after=" + strings.ReplaceAll(rest, "&amp;", "&")
		}
	}
	if seen != 50 {
		t.Errorf("the pages show %d files", seen)
	}
	r := signedIn(h, "GET", comparisonPage+"?after=stale&view=split&to="+newestID, nil)
	wantRedirect(t, "a stale cursor", r, comparisonPage+"?to="+newestID+"&view=split")
}

func TestWhatCannotBeCompared(t *testing.T) {
	for name, tt := range map[string]struct {
		state  func(*fakeServices)
		path   string
		status int
		want   string
	}{
		"an artifact of somebody else": {nil, "/artifacts/" + strangeID + "/compare", 404, "Nothing on show here"},
		"no artifact":                  {nil, "/artifacts/nothing/compare", 404, "Nothing on show here"},
		"an unknown revision":          {nil, comparisonPage + "?to=rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z0", 404, "Nothing to compare"},
		"a malformed one":              {nil, comparisonPage + "?from=%22%3E%3Cscript%3E", 404, "Nothing to compare"},
		"a draft":                      {nil, comparisonPage + "?to=" + draftID, 404, "Nothing to compare"},
		"from a draft":                 {nil, comparisonPage + "?from=" + draftID, 404, "Nothing to compare"},
		"files that were removed":      {nil, comparisonPage + "?from=" + firstID, 404, "were removed"},
		"an unknown file":              {nil, comparisonPage + "?path=none", 404, "Nothing to compare"},
		"what expired":                 {ended, comparisonPage, 404, "Nothing to compare"},
		"what was deleted":             {deleted, comparisonPage, 404, "Nothing to compare"},
		"what is not published":        {draft, comparisonPage, 404, "Nothing to compare"},
		"what the operator closed":     {closed, comparisonPage, 404, "Closed by the operator"},
	} {
		s := newServices()
		all(tt.state)(s)
		r := signedIn(s.handler(), "GET", tt.path, nil)
		expect.Lacks(t, name, wantAnswer(t, name, r, tt.status, tt.want), "<script>")
	}
	r := send(newServices().handler(), "GET", comparisonPage+"?to="+oldID, "")
	wantRedirect(t, "signed out", r, signInPath(comparisonPage+"?to="+oldID))
	s := newServices()
	s.actor.Workspace.Lock = "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	expect.Has(t, "the page", text(t, signedIn(s.handler(), "GET", comparisonPage, nil)), "Closed by the operator")
	s = newServices()
	s.fail = fault.NewCode(fault.DatabaseUnavailable)
	wantAnswer(t, "without its tables", signedIn(s.handler(), "GET", comparisonPage, nil), 503)
}

func TestStrangersTextInAComparisonIsText(t *testing.T) {
	s := newServices()
	strangeFiles(s)
	s.comparisons.files.before["a.md"], s.comparisons.files.after["a.md"] = "", "<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n"
	s.comparisons.files.before["b.csv"], s.comparisons.files.after["b.csv"] = "<b>,x\n1,2\n", "<b>,x\n1,\"<script>\n\u202E\"\n"
	for _, view := range []string{"", "unified", "split"} {
		body := compares(t, s, "?view="+view)
		expect.Lacks(t, view, body, "<script>alert", "<img src=x", `href="javascript`, "\u202E", "\u2066", "<b>x", "\r")
		expect.Has(t, "the page", body, "one␍</code>", "Files of more than 262 kB are not compared")
	}
}

func TestPagesLeadToComparisons(t *testing.T) {
	const since, viewer = `data-part="since"`, "/v/" + artifactID
	compared := comparisonPage + "?from=" + oldID + "&amp;to=" + newestID
	body := page(t, artifactPage)
	if n := strings.Count(body, comparisonPage); n != 1 {
		t.Errorf("the page of the artifact leads to %d comparisons", n)
	}
	expect.Has(t, "the page of the artifact", body, compared,
		since+` data-artifact="`+artifactID+`" data-shown="`+newestID+`" hidden`)
	for _, state := range []func(*fakeServices){ended, closed, draft} {
		expect.Lacks(t, "what nobody sees", page(t, artifactPage, state), "/compare", `"since"`)
	}
	expect.Has(t, "the viewer", page(t, viewer), compared, since)
	expect.Lacks(t, "the oldest revision", page(t, viewer+"?revision="+oldID), comparisonPage, since)
	expect.Lacks(t, "the viewer of links", text(t, send(newServices().handler(), "GET", "/al/"+publicID, "")), "compare",
		"since.js")
}

func TestAComparisonOnlyReads(t *testing.T) {
	s := newServices()
	compares(t, s, "")
	slices.Sort(s.calls[2:]) // what is read at the same time
	wantCalls(t, "the page", s, "Find "+artifactID, "List "+artifactID, "Review "+artifactID, "Threads ")
}
