package edits

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"vitrine/shared/publishing/patch"
)

func TestParse(t *testing.T) {
	for text, fails := range map[string]string{
		`[{"old_string":"a","new_string":""}]`:                     "",
		`[{"old_string":"a","new_string":"b","replace_all":true}]`: "",
		`[]`:                                   "there are 0",
		`[{"old_string":"a","new_string":"b"}`: "EOF",
		`{"old_string":"a","new_string":"b"}`:  "array",
		`[{"old_string":"","new_string":"b"}]`: "edits[0] has no old_string",
		`[{"old_string":"a","new_string":"b"},{"old_string":"a"}]`: "edits[1] has no new_string",
		`[{"old_string":"a","new_string":"b","replaceAll":true}]`:  "unknown",
		`[{"old_string":"a","new_string":"b","new_string":"c"}]`:   "duplicate",
		`[{"old_string":"a","new_string":"b"}] []`:                 "after",
		`[{"old_string":"a","new_string":"\ud800"}]`:               "surrogate",
		"[{\"old_string\":\"a\",\"new_string\":\"\xff\"}]":         "UTF-8",
		`[` + strings.Repeat(`{"old_string":"a","new_string":"b"},`, 99) +
			`{"old_string":"a","new_string":"b"}]`: "",
		`[` + strings.Repeat(`{"old_string":"a","new_string":"b"},`, 100) +
			`{"old_string":"a","new_string":"b"}]`: "there are 101",
	} {
		_, err := Parse([]byte(text))
		if (err == nil) != (fails == "") || err != nil && (!errors.Is(err, ErrMalformed) ||
			!strings.Contains(err.Error(), fails)) {
			t.Errorf("Parse(%.80s): %v, want %q", text, err, fails)
		}
	}
}

func edit(old, new string, all bool) Edit { return Edit{old, &new, all} }

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		list       []Edit
		want       string
		err        error
	}{
		{"once", "one two", []Edit{edit("two", "three", false)}, "one three", nil},
		{"in order", "a", []Edit{edit("a", "b", false), edit("b", "c", false)}, "c", nil},
		{"to nothing", "a\n", []Edit{edit("a\n", "", false)}, "", nil},
		{"literally", "a.c $1", []Edit{edit(".", "$1", false)}, "a$1c $1", nil},
		{"not there", "a", []Edit{edit("a", "b", false), edit("a", "c", false)}, "", NoMatch{1, 0}},
		{"twice", "x a a", []Edit{edit("x", "y", false), edit("a", "b", false)}, "", NoMatch{1, 2}},
		{"overlapping", "aaa", []Edit{edit("aa", "b", false)}, "", NoMatch{0, 2}},
		{"all", "aaa", []Edit{edit("aa", "b", true)}, "ba", nil},
		{"all of one", "a", []Edit{edit("a", "b", true)}, "b", nil},
		{"all of none", "a", []Edit{edit("b", "c", true)}, "", NoMatch{0, 0}},
		{"two bytes of one letter", "éè", []Edit{edit("é", "e", false)}, "eè", nil},
		{"up to the limit", "aa", []Edit{edit("a", "12345", true)}, "1234512345", nil},
		{"beyond the limit", "aaa", []Edit{edit("a", "1234", true)}, "", ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Apply(tt.text, tt.list, 10)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestPatchesApply runs random texts, with and without a final line end, through the server's parser.
func TestPatchesApply(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	made := 0
	for range 400 {
		var b strings.Builder
		for range 40 + chance.IntN(40) {
			b.WriteString(strings.Repeat(string(rune('a'+chance.IntN(4))), chance.IntN(12)))
			b.WriteString([]string{"\n", "\r\n", "\n"}[chance.IntN(3)])
		}
		before := strings.TrimSuffix(b.String(), []string{"\n", ""}[chance.IntN(2)])
		at := chance.IntN(len(before))
		after := before[:at] + []string{"", "X", "\n", "Y\nZ"}[chance.IntN(4)] + before[min(len(before), at+chance.IntN(30)):]
		diff, ok := Patch(before, after)
		if !ok {
			continue
		}
		made++
		got, err := patch.Apply([]byte(before), diff, int64(len(after)))
		if err != nil || string(got) != after || len(diff) >= len(after) {
			t.Fatalf("%q to %q by %q: %q, %v", before, after, diff, got, err)
		}
	}
	if made < 200 {
		t.Errorf("only %d patches were made", made)
	}
}

func TestPatchOnlyIfSmaller(t *testing.T) {
	if diff, ok := Patch("a\n", "b\n"); ok {
		t.Errorf("a diff for a short text: %q", diff)
	}
	if diff, ok := Patch("same\n", "same\n"); ok {
		t.Errorf("a diff for no change: %q", diff)
	}
}
