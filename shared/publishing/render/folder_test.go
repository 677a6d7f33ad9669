package render

import (
	"fmt"
	"strings"
	"testing"
)

// longFolder is a folder of n pictures.
func longFolder(n int) Source {
	var others []string
	for i := 1; i < n; i++ {
		others = append(others, fmt.Sprintf("a&b/p%04d.png", i))
	}
	s := sourceOf("a&b/p0000.png", "x", others...)
	s.Path, s.File.Path = "a&b", ""
	return s
}

// TestALongFolderHasPages lists 1,201 pictures, each on one page, with links that lead from page to page.
func TestALongFolderHasPages(t *testing.T) {
	s := longFolder(1201)
	const previous, next = `">Previous page</a>`, `">Next page</a>`
	for page, c := range map[string]struct {
		says, from, to string
		pictures       int
		before, after  string // links
	}{
		"":  {"1 to 500 of 1201", "p0000", "p0499", 500, "", `"/r/T/a&amp;b?page=2`},
		"2": {"501 to 1000 of 1201", "p0500", "p0999", 500, `"/r/T/a&amp;b`, `"/r/T/a&amp;b?page=3`},
		"3": {"1001 to 1201 of 1201", "p1000", "p1200", 201, `"/r/T/a&amp;b?page=2`, ""},
	} {
		main := mainOf(t, s, Query{Page: page})
		count := func(text string, want int) {
			t.Helper()
			if got := strings.Count(main, text); got != want {
				t.Errorf("page %q has %d times %s, want %d", page, got, text, want)
			}
		}
		links := map[bool]int{true: 2} // above and below the list
		count("<span>"+c.says+"</span>", 2)
		count(previous, links[c.before != ""])
		count(c.before+previous, links[c.before != ""])
		count(next, links[c.after != ""])
		count(c.after+next, links[c.after != ""])
		count("<tr><td>", c.pictures)
		count(`<a class="v-thumb"`, c.pictures)
		count(c.from+".png</a></td>", 1)
		count(c.to+".png</a></td>", 1)
	}
	wantNot(t, mainOf(t, longFolder(maxEntries), Query{Page: "2"}), "v-steps")
}

func TestWhatIsNoPageOfAFolderIsItsFirst(t *testing.T) {
	s := longFolder(501)
	want := mainOf(t, s, Query{})
	for _, page := range []string{"1", "3", "0", "-1", "02", "+2", "2 ", "2.0", "99999999999999999999", `"><script>`} {
		if mainOf(t, s, Query{Page: page}) != want {
			t.Errorf("page %q is not the first one", page)
		}
	}
	if mainOf(t, s, Query{Page: "2"}) == want {
		t.Error("page 2 is the first one")
	}
}

func TestImagesLoadWhenTheirReadersComeNearThem(t *testing.T) {
	if got := strings.Count(mainOf(t, longFolder(2), Query{}), `loading="lazy" decoding="async" width="`); got != 4 {
		t.Errorf("%d of 2 small and 2 large images are lazy", got)
	}
	const (
		unknown = `<img src="p.png" loading="eager" decoding="sync">`
		known   = `<img src="p.png" width="40" height="30" loading="eager">`
	)
	for _, c := range []struct {
		name, text string
		lazy, all  int
	}{
		{"of unknown size", strings.Repeat("![x](p.png)\n\n", maxEager), 0, maxEager},
		{"many of unknown size", strings.Repeat("![x](p.png)\n\n", maxEager) + unknown, 1, maxEager + 1},
		{"with its size", strings.Repeat(known+"\n\n", maxEager) + unknown, maxEager, maxEager + 1},
		{"with half of its size", `<img src="p.png" width="40">`, 0, 1},
	} {
		main := mainOf(t, sourceOf("a.md", c.text, "p.png"), Query{})
		lazy, all := strings.Count(main, `loading="lazy"`), strings.Count(main, `<img src="/v/T/p.png"`)
		if lazy != c.lazy || all != c.all || strings.Count(main, `decoding="async"`) != all {
			t.Errorf("%s: %d of %d are lazy, want %d of %d", c.name, lazy, all, c.lazy, c.all)
		}
		wantNot(t, main, "eager", `"sync"`)
	}
}
