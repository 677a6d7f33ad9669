package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	chromium "vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

const lineLegend = `
Medians of 3 openings in a phone's window of Chromium, by an access link and, in turn, as the bare file of a server that
packs nothing. Each request waits for the delay, the first of each host for two more (TCP and TLS), and all answers
share the bytes a second. Seconds are from the start of the navigation: to the first text that is painted (in the frame
of the link), and until the load event of its document is over and so is each request that began before; requests and
KB are of those. A second look has what the browser kept of the first, its connections among it.
`

// lineRows publish the pages as a member, so that their scripts run.
func (b *bench) lineRows(ctx context.Context) (rows []row, err error) {
	m := &maker{bench: b, ctx: ctx}
	member := m.approve(m.enter("line@example.org"), onePage())
	owner := m.with(m.createKey(member).Secret)
	add := func(name, title string, times int, files ...wire.File) {
		s := m.show(owner, files...)
		link := ask[contract.Visibility](m, owner, http.StatusOK, "PUT", s.path("/visibility"),
			contract.SetVisibility{Visibility: "unlisted"}, command).UnlistedURL
		rows = append(rows, row{name: name, title: title, run: func(ctx context.Context, r *row) error {
			p := opener{url: link, framed: true, times: times, most: openingMost, speed: b.line}
			return b.openings(ctx, r, p, files)
		}})
	}
	page := htmlPage("", 8500)
	add("page", "One HTML file, 8.5 KB", 1, page)
	add("page-again", "A second look at it", 2, page)
	add("pictures", "HTML with style, script and 4 pictures", 1, illustrated()...)
	add("markdown", "Markdown, 24 KB", 1, wire.File{Path: "README.md", Body: prose("## %s\n\n%s\n\n", 24_000)})
	add("script", "HTML with a script of 4.7 MB inside", 1, htmlPage("<script>"+program(4_700_000)+"</script>", 8500))
	return rows, m.err
}

const (
	openingRounds = 3
	openingMost   = 2 * time.Minute // that a page may take to open
)

// openings opens a page by its link and its bare file in turn.
func (b *bench) openings(ctx context.Context, r *row, link opener, files []wire.File) error {
	c, err := chromium.Start(chromium.SpareRenderer) // or the start of a process would be measured
	if err != nil {
		return err
	}
	defer c.Close()
	server, stop, err := serveHere(&http.Server{Handler: serving(files)})
	if err != nil {
		return err
	}
	defer stop()
	bare := link
	bare.url, bare.framed = server+"/"+files[0].Path, false
	var all [2][]opened
	var never [2]error
	for turn := range 2 * openingRounds {
		side := turn % 2
		if never[side] != nil {
			continue
		}
		o, err := [2]opener{link, bare}[side].open(ctx, c)
		if err != nil && !errors.Is(err, errNever) && !errors.Is(err, errCut) {
			return err
		}
		all[side], never[side] = append(all[side], o), err
	}
	for n := range 2 * len(lineForms) {
		if err := never[n%2]; err != nil {
			r.cells = append(r.cells, err.Error())
		} else {
			r.cells = append(r.cells, fmt.Sprintf(lineForms[n/2], median(figuresOf(all[n%2], n/2))))
		}
	}
	if never[0] == nil {
		r.note = b.waterfall(all[0])
	}
	return nil
}

// lineForms are the forms of the figures of a page that was opened.
var lineForms = [4]string{"%.2f", "%.2f", "%.0f", "%.1f"}

// figuresOf are the values of one figure.
func figuresOf(all []opened, figure int) (values []float64) {
	for _, o := range all {
		values = append(values, o.figures()[figure])
	}
	return values
}

// waterfall is that of the opening with the median time to the first text.
func (b *bench) waterfall(all []opened) string {
	slices.SortFunc(all, func(x, y opened) int { return cmp.Compare(x.figures()[0], y.figures()[0]) })
	hosts := map[string]string{}
	for name, origin := range map[string]string{"app": b.hosts.Origins.App, "content": b.hosts.Origins.Content} {
		hosts[strings.TrimPrefix(origin, "http://")] = name
	}
	var out strings.Builder
	all[len(all)/2].printWaterfall(&out, hosts)
	return out.String()
}

// printOpenings prints the rows, and below them what one opening of the first waited for.
func (b *bench) printOpenings(w io.Writer, rows []*row) error {
	var lines [][]string
	for _, r := range rows {
		lines = append(lines, append([]string{r.title}, r.cells...))
	}
	printTable(w, []string{
		fmt.Sprintf("%d ms, %d KB/s", b.line.delay.Milliseconds(), b.line.rate/1000),
		"First text s", "bare", "Whole s", "bare", "Requests", "bare", "KB", "bare",
	}, lines...)
	if rows[0].note != "" {
		fmt.Fprintf(w, "\n%s, by its link:\n\n```\n%s```\n", rows[0].title, rows[0].note)
	}
	return nil
}

// serving serves files as a server does that knows nothing but files. Browsers would save Markdown.
func serving(files []wire.File) http.HandlerFunc {
	began, kinds := time.Now(), map[string]string{".md": "text/plain; charset=utf-8"}
	return func(w http.ResponseWriter, r *http.Request) {
		n := slices.IndexFunc(files, func(f wire.File) bool { return "/"+f.Path == r.URL.Path })
		if n < 0 {
			http.NotFound(w, r)
			return
		}
		name := files[n].Path
		w.Header().Set("Content-Type", cmp.Or(kinds[path.Ext(name)], mime.TypeByExtension(path.Ext(name))))
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, began, bytes.NewReader(files[n].Body))
	}
}

// htmlPage is a page whose text comes after what is put first.
func htmlPage(first string, text int) wire.File {
	head := `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		"<title>Report</title>"
	return wire.File{Path: "index.html", Body: append([]byte(head+first), prose("<h2>%s</h2>\n<p>%s</p>\n", text)...)}
}

// illustrated is a page with a style, a script and pictures.
func illustrated() []wire.File {
	first, files := `<link rel="stylesheet" href="style.css"><script defer src="script.js"></script>`, []wire.File{
		{Path: "style.css", Body: bytes.Repeat([]byte("p { margin: 1em auto; max-width: 40em }\n"), 100)},
		{Path: "script.js", Body: []byte(program(4000))},
	}
	for n := range 4 {
		name := fmt.Sprintf("picture-%d.png", n)
		var picture bytes.Buffer
		png.Encode(&picture, &image.Gray{Pix: noise(80 * 100), Stride: 100, Rect: image.Rect(0, 0, 100, 80)})
		files = append(files, wire.File{Path: name, Body: picture.Bytes()})
		first += `<img src="` + name + `" width="100" height="80" alt="">`
	}
	return append([]wire.File{htmlPage(first, 8500)}, files...)
}

// prose is that much text of headings and paragraphs, packed about as well as English and the same in every run.
func prose(form string, size int) (text []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for len(text) < size {
		var words []byte
		for range 60 {
			for range 2 + r.IntN(3) {
				words = append(words, "dhlnrstw"[r.IntN(8)], "aeio"[r.IntN(4)])
			}
			words = append(words, ' ')
		}
		text = fmt.Appendf(text, form, words[:20], words)
	}
	return text[:size]
}

// program is a script that does nothing and is packed to about 31 %, the same in every run.
func program(size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var out strings.Builder
	for name := func() int { return r.IntN(1 << 22) }; out.Len() < size; {
		fmt.Fprintf(&out, "function f%x(a){return a.p%x*%d+a.p%x}\n", name(), name(), name(), name())
	}
	return out.String()
}
