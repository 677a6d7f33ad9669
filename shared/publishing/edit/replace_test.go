package edit

import (
	"strings"
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

func TestEditsApplyInOrderAndExactly(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		edits []Replacement
		want  string
		fails string // what the message of the refusal begins with
	}{
		"one":                               {"a b c", []Replacement{{Old: "b", New: "x"}}, "a x c", ""},
		"each sees the one before":          {"a", []Replacement{{Old: "a", New: "b"}, {Old: "b", New: "c"}}, "c", ""},
		"all":                               {"aXbXc", []Replacement{{Old: "X", New: "--", All: true}}, "a--b--c", ""},
		"all, of which there is one":        {"aX", []Replacement{{Old: "X", New: "y", All: true}}, "ay", ""},
		"a part that is taken out":          {"abc", []Replacement{{Old: "b"}}, "ac", ""},
		"the whole text is taken out":       {"abc", []Replacement{{Old: "abc"}}, "", ""},
		"nothing is a pattern":              {"a.b axb", []Replacement{{Old: "a.b", New: "$1\\0"}}, "$1\\0 axb", ""},
		"line ends are bytes":               {"a\r\nb\n", []Replacement{{Old: "a\r\n", New: "a\n"}}, "a\nb\n", ""},
		"an accent is a byte sequence":      {"café", []Replacement{{Old: "é", New: "e"}}, "cafe", ""},
		"no edit":                           {"a", nil, "a", ""},
		"one that does not occur":           {"a", []Replacement{{Old: "b"}}, "", "not_found (edit 0)"},
		"all of what does not occur":        {"a", []Replacement{{Old: "b", All: true}}, "", "not_found (edit 0)"},
		"a form of Unicode that is another": {"café", []Replacement{{Old: "cafe\u0301"}}, "", "not_found (edit 0)"},
		"the second does not occur":         {"ab", []Replacement{{Old: "a"}, {Old: "a"}}, "", "not_found (edit 1)"},
		"one that occurs twice":             {"abab", []Replacement{{Old: "ab"}}, "", "not_unique (edit 0)"},
		"one that overlaps itself":          {"aaa", []Replacement{{Old: "aa"}}, "", "not_unique (edit 0)"},
		"the third occurs twice": {
			"x y", []Replacement{{Old: "x", New: "z"}, {Old: "y", New: "z"}, {Old: "z"}}, "", "not_unique (edit 2)",
		},
		"an empty one":       {"a", []Replacement{{Old: "", New: "b"}}, "", "empty_old_string (edit 0)"},
		"an empty one, all":  {"a", []Replacement{{Old: "", New: "b", All: true}}, "", "empty_old_string (edit 0)"},
		"an empty one later": {"a", []Replacement{{Old: "a", New: "b"}, {}}, "", "empty_old_string (edit 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replaceAll(c.text, c.edits)
			if c.fails == "" && (err != nil || got != c.want) {
				t.Errorf("it becomes %q (%v), want %q", got, err, c.want)
			}
			f, begins := fault.Of(err), c.fails+": "
			if c.fails != "" && (f.Code != fault.InvalidRequest || !strings.HasPrefix(f.Message, begins)) {
				t.Errorf("%v, want %q", err, c.fails)
			}
		})
	}
}

func TestARefusalSaysWhichEditAndTextItIsAbout(t *testing.T) {
	long := strings.Repeat("ä", 90)
	for _, c := range []struct {
		text  string
		edits []Replacement
		want  string
	}{
		{"a", []Replacement{{Old: "a", New: "b"}, {Old: "a\n\"c\""}},
			`not_found (edit 1): edits[1].old_string "a\n\"c\"" ` + advice[NotFound]},
		{long + long, []Replacement{{Old: long}},
			`not_unique (edit 0): edits[0].old_string "` + strings.Repeat("ä", 80) + `…" ` + advice[NotUnique]},
	} {
		if _, err := replaceAll(c.text, c.edits); fault.Of(err).Message != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestEditsMakeNoTextThatIsTooLongOrNone(t *testing.T) {
	long := strings.Repeat("a", limits.Text)
	for name, c := range map[string]struct {
		text string
		edit Replacement
		want fault.Code
	}{
		"a text of the longest length stays one": {long[1:] + "b", Replacement{Old: "b", New: "c"}, ""},
		"a byte too many": {
			long[1:] + "b", Replacement{Old: "b", New: "cc"}, fault.FileSizeCapExceeded,
		},
		"each part grows": {
			long[:1000], Replacement{Old: "a", New: long[:5000], All: true}, fault.FileSizeCapExceeded,
		},
		"more parts than may be replaced": {long, Replacement{Old: "a", New: "b", All: true}, fault.InvalidRequest},
		"it is no text any more":          {"a", Replacement{Old: "a", New: "\xff"}, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := replaceAll(c.text, []Replacement{c.edit}); fault.CodeOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestATextHasThePathOfItsMode(t *testing.T) {
	for _, c := range []struct {
		text Text
		path string
		want fault.Code
	}{
		{Text{"<p>", media.HTML}, "index.html", ""},
		{Text{"# T", media.Markdown}, "index.md", ""},
		{Text{"t", media.Text}, "content.txt", ""},
		{Text{strings.Repeat("a", limits.Text), media.Text}, "content.txt", ""},
		{Text{"t", media.Image}, "", fault.InvalidRequest},
		{Text{"t", ""}, "", fault.InvalidRequest},
		{Text{"\xff", media.HTML}, "", fault.InvalidRequest},
		{Text{strings.Repeat("a", limits.Text+1), media.Text}, "", fault.FileSizeCapExceeded},
	} {
		if path, err := c.text.check(); path != c.path || fault.CodeOf(err) != c.want {
			t.Errorf("%.10q as %q: %q %v, want %q %q", c.text.Body, c.text.Mode, path, err, c.path, c.want)
		}
	}
}
