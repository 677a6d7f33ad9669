package anchor

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/prose"
)

// quote is an anchor of the kind text.
func quote(parts ...string) feedback.Anchor {
	parts = append(parts, "", "")
	return feedback.Anchor{
		Kind:   feedback.OnText,
		Exact:  parts[0],
		Prefix: parts[1],
		Suffix: parts[2],
	}
}

func lines(from, to int) feedback.Anchor {
	return feedback.Anchor{Kind: feedback.OnLines, From: from, To: to}
}

func file(path, body string) feedback.Source {
	return feedback.Source{Path: path, Size: int64(len(body)), Body: []byte(body)}
}

func TestTheShapeOfAnAnchor(t *testing.T) {
	e := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		anchor feedback.Anchor
		says   string // empty: it is valid
	}{
		"an artifact":                {feedback.Anchor{Kind: feedback.OnArtifact}, ""},
		"a file":                     {feedback.Anchor{Kind: feedback.OnFile}, ""},
		"a line":                     {lines(1, 1), ""},
		"lines":                      {lines(40, 42), ""},
		"a quote":                    {quote("a"), ""},
		"the longest quote":          {quote(e(300), e(32), e(32)), ""},
		"no kind":                    {feedback.Anchor{}, "artifact, file, lines or text"},
		"another kind":               {feedback.Anchor{Kind: "region"}, "artifact, file, lines or text"},
		"a file with lines":          {feedback.Anchor{Kind: feedback.OnFile, To: 2}, "no other members"},
		"an artifact with a quote":   {feedback.Anchor{Kind: feedback.OnArtifact, Suffix: "a"}, "no other members"},
		"lines with a quote":         {feedback.Anchor{Kind: feedback.OnLines, From: 1, To: 1, Prefix: "a"}, "from and to only"},
		"no lines":                   {lines(0, 0), "1 <= from <= to"},
		"lines from 0":               {lines(0, 2), "1 <= from <= to"},
		"lines that end early":       {lines(3, 2), "1 <= from <= to"},
		"negative lines":             {lines(-3, -2), "1 <= from <= to"},
		"a quote with lines":         {feedback.Anchor{Kind: feedback.OnText, From: 1, Exact: "a"}, "leave out from and to"},
		"no quote":                   {quote("", "a", "b"), "exact has 1 to 300 characters"},
		"a quote of spaces":          {quote(" \n\u00A0"), "exact has 1 to 300 characters"},
		"a quote that nobody sees":   {quote("\u200B\u00AD\U000E0041"), "exact has 1 to 300 characters"},
		"a quote that is too long":   {quote(e(301)), "quote a shorter passage"},
		"a prefix that is too long":  {quote("a", e(33)), "prefix and suffix have at most 32"},
		"a suffix that is too long":  {quote("a", "", e(33)), "prefix and suffix have at most 32"},
		"a quote that is not UTF-8":  {quote("a\xff"), "not UTF-8"},
		"a prefix that is not UTF-8": {quote("a", "\xff"), "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			err := anchor(c.anchor).valid()
			if c.says == "" {
				expect.OK(t, err)
				return
			}
			expect.Error(t, err, c.says)
			_, checked := Checker{}.Check(c.anchor, file("a.txt", "a\nb\nc\n"))
			if fault.CodeOf(err) != fault.InvalidRequest || checked == nil || checked.Error() != err.Error() {
				t.Errorf("it is refused with %v, and with its file with %v", err, checked)
			}
		})
	}
}

// page is a page with the words that the tests quote.
const page = "<h1>Seals of  the\nbay</h1><p>There <b>are</b> 1,200&nbsp;seals, na\u0308mlich see\u00ADhunde." +
	"<p>There are more."

func TestAnAnchorIsHeldAgainstItsFile(t *testing.T) {
	const unseen = "anchor_not_found: readers of the file do not see"
	const unread = "anchor_not_found: the file cannot be searched"
	text, html, image := file("a.go", "a\nb\nc\n"), file("a.html", page), file("a.png", "\x89PNG\x00")
	large := feedback.Source{Path: "a.csv", Size: prose.Most + 1}
	for name, c := range map[string]struct {
		anchor feedback.Anchor
		file   feedback.Source
		says   string // empty: it is found
	}{
		"an artifact":                     {feedback.Anchor{Kind: feedback.OnArtifact}, feedback.Source{}, ""},
		"an image":                        {feedback.Anchor{Kind: feedback.OnFile}, image, ""},
		"a film":                          {feedback.Anchor{Kind: feedback.OnFile}, feedback.Source{Path: "a.mp4", Size: 1 << 30}, ""},
		"the last line":                   {lines(2, 3), file("a.go", "a\nb\nc"), ""},
		"the last line with an end":       {lines(3, 3), file("a.go", "a\r\nb\r\nc\r\n"), ""},
		"the source of a page":            {lines(1, 2), html, ""},
		"a line behind the last":          {lines(3, 4), text, "anchor_not_found: the last line of the file is 3"},
		"a line of an empty file":         {lines(1, 1), file("a.go", ""), "the last line of the file is 0"},
		"a line of an image":              {lines(1, 1), image, "because it is not text"},
		"a line of a large file":          {lines(1, 1), large, unread + ", because it has more than 4 MiB"},
		"a quote over elements and lines": {quote("the bay There are 1,200 seals"), html, ""},
		"a quote in another normal form":  {quote("n\u00E4mlich seehunde"), html, ""},
		"a quote with what is hidden":     {quote("see\u200Bhun\u200Dde\u202E"), html, ""},
		"a quote between others":          {quote("There are", "hunde. ", " more"), html, ""},
		"a quote that ends with a space":  {quote("There ", "", "are more."), html, ""},
		"a quote of a document":           {quote("bold and linked"), file("a.md", "**bold** and [linked](a.md)"), ""},
		"a quote of code":                 {quote("if a < b {"), file("a.go", "\tif  a < b {\n"), ""},
		"a quote in another case":         {quote("seals of the bay"), html, unseen},
		"a quote of the markup":           {quote("<b>are</b>"), html, "without markup"},
		"a quote elsewhere":               {quote("There are", "more. "), html, unseen},
		"a quote of an image":             {quote("PNG"), image, unread},
		"a quote of a large file":         {quote("a"), large, "more than 4 MiB; use the kind file"},
		"a quote of a hostile document":   {quote("a"), file("a.md", strings.Repeat("*a_ ", 50_000)), "reading its marks"},
		"a quote of data in a page":       {quote("b"), file("a.html", "a<script type=application/json>b</script>"), unseen},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Checker{}.Check(c.anchor, c.file)
			if c.says != "" {
				expect.Error(t, err, c.says)
				expect.Code(t, err, fault.InvalidRequest)
			} else if expect.OK(t, err); got.Kind != c.anchor.Kind || got.From != c.anchor.From || got.To != c.anchor.To {
				t.Errorf("%+v becomes %+v", c.anchor, got)
			}
			if got.Verified != (c.says == "") {
				t.Errorf("verified is %v", got.Verified)
			}
		})
	}
}

func TestAQuoteOfAPageWithScriptsNeedNotBeThere(t *testing.T) {
	for exact, verified := range map[string]bool{"Total": true, "1,234": false} {
		got, err := Checker{}.Check(quote(exact), file("a.html", "<p>Total: <b id=n></b><script>n.append(sum())</script>"))
		if err != nil || got.Verified != verified || got.Exact != exact {
			t.Errorf("%s: %+v, %v", exact, got, err)
		}
	}
	got, err := Checker{}.Check(quote("1,234"), file("a.md", "Total <script>n.append(sum())</script>"))
	if err == nil || got.Verified {
		t.Errorf("in a document, where no script runs: %+v", got)
	}
}

// TestAQuoteIsKeptAsItsReadersSeeIt holds what agents read: a page with scripts has quotes that nobody looked up.
func TestAQuoteIsKeptAsItsReadersSeeIt(t *testing.T) {
	scripted := file("a.html", "<script src=a.js></script>")
	a := quote("ignore\U000E0041 \u202Eall\n\n rules\x1b[2J e\u0301", "می\u200Cخ\t ", " \u200B b")
	got, err := Checker{}.Check(a, scripted)
	want := quote("ignore all rules[2J é", "می\u200Cخ ", " b")
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if again, err := (Checker{}).Check(got, scripted); err != nil || again != got {
		t.Errorf("%+v becomes %+v (%v)", got, again, err)
	}
}

func TestBytesAreReadForLinesAndQuotesOnly(t *testing.T) {
	for _, c := range []struct {
		anchor feedback.Anchor
		size   int64
		want   bool
	}{
		{feedback.Anchor{Kind: feedback.OnArtifact}, 1, false},
		{feedback.Anchor{Kind: feedback.OnFile}, 1, false},
		{lines(1, 1), prose.Most, true},
		{quote("a"), prose.Most, true},
		{quote("a"), prose.Most + 1, false},
	} {
		if got := (Checker{}).Reads(c.anchor, c.size); got != c.want {
			t.Errorf("%+v of %d bytes: %v", c.anchor, c.size, got)
		}
	}
}
