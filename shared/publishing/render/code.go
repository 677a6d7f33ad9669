package render

import (
	"context"
	"path"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"vitrine/shared/platform/media"
)

const (
	maxText          = 1 << 20 // bytes of a text or of code that is shown
	maxLines         = 20_000  // of such a text
	maxLine          = 8 << 10 // bytes of such a line
	maxHighlighted   = 1 << 20 // bytes of code that is coloured in one page; the rest is plain
	maxHighlightTime = 2 * time.Second
	sniffedBytes     = 512 // that tell whether a file is text
)

func init() {
	views[media.CodeView] = viewer{show: codeView, weight: 40, most: maxText}
	views[media.NoView] = viewer{show: unknownView, weight: 40, most: maxText}
}

// codeView shows code and text with numbered lines.
func codeView(ctx context.Context, s Source, b *body, _ Query) error {
	text, err := s.shownText(ctx, b)
	if err != nil {
		return err
	}
	colouring, cancel := context.WithTimeout(ctx, maxHighlightTime)
	defer cancel()
	numbered(b, highlight(colouring, lexerOf(s.Path), text), s.Path)
	return nil
}

// unknownView shows a file whose path does not tell its kind. It shows text as code.
func unknownView(ctx context.Context, s Source, b *body, q Query) error {
	head, err := s.read(ctx, sniffedBytes)
	if err != nil {
		return err
	}
	if !isText(string(head)) || !utf8.Valid(trimRune(head)) {
		b.note("Files of this kind are not shown here.")
		return nil
	}
	return codeView(ctx, s, b, q)
}

// plain shows the text of any file, or says that the file is not text.
func (s Source) plain(ctx context.Context, b *body) error {
	return s.numberedText(ctx, b, escapedLines)
}

// numberedText shows a text by its lines as HTML, or says that the file is not text.
func (s Source) numberedText(ctx context.Context, b *body, lines func(text string) []string) error {
	text, err := s.shownText(ctx, b)
	if err != nil {
		return err
	}
	if !isText(text) {
		b.note("This file is not text, so there is nothing to show.")
		return nil
	}
	numbered(b, lines(text), s.Path)
	return nil
}

// isText reports whether the beginning of a file looks like text.
func isText(text string) bool {
	return !strings.ContainsRune(text[:min(len(text), sniffedBytes)], 0)
}

// shownText reads the part of a text that a page shows, with line feeds as line ends.
func (s Source) shownText(ctx context.Context, b *body) (string, error) {
	source, err := s.read(ctx, maxText)
	if err != nil {
		return "", err
	}
	if s.File.Size > maxText {
		b.note("Only the first %s of %s are shown.", size(maxText), size(s.File.Size))
	}
	text := strings.ReplaceAll(string(text8(source)), "\r\n", "\n")
	return b.shorten(text), nil
}

// shorten cuts a text with too many lines, and lines that are too long.
func (b *body) shorten(text string) string {
	var out strings.Builder
	rest, more := text, true
	long := 0
	for n := 0; more; n++ {
		var line string
		if line, rest, more = strings.Cut(rest, "\n"); n == maxLines {
			b.note("Only the first %d lines are shown.", maxLines)
			break
		}
		if len(line) > maxLine {
			line, long = clip(line, maxLine), long+1
		}
		out.WriteString(line)
		if more {
			out.WriteByte('\n')
		}
	}
	if long > 0 {
		b.note("Lines above %s are cut, %d of them here.", size(maxLine), long)
	}
	return out.String()
}

// numbered writes lines of HTML with their numbers, which are links to the lines.
func numbered(b *body, lines []string, name string) {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1] // the line feed at the end of a file begins no line
	}
	if len(lines) == 0 {
		b.printf(`<p class="v-empty">This file is empty.</p>`)
		return
	}
	b.printf(`<pre class="v-code" tabindex="0" aria-label="%s"><code>`, escape(clip(name, 200)))
	for i, line := range lines {
		b.printf(`<span class="v-line" id="L%d" data-line="%d"><a class="v-no" href="#L%d" tabindex="-1" aria-label="Line %d"></a>%s`+
			"\n</span>", i+1, i+1, i+1, i+1, line)
	}
	b.printf("</code></pre>")
}

// escapedLines returns the lines of a text as HTML.
func escapedLines(text string) []string { return strings.Split(escape(text), "\n") }

func lexerOf(file string) chroma.Lexer {
	return lexers.Match(file[strings.LastIndexByte(file, '/')+1:])
}

// lexerNamed returns the lexer of a language by its name, an alias, or the name or extension of its files, nil if there
// is none.
func lexerNamed(language string) chroma.Lexer {
	known := lexersByName()
	for _, name := range []string{language, strings.ToLower(language), "." + language, path.Ext(language)} {
		if lexer := known[name]; lexer != nil {
			return lexer
		}
	}
	return nil
}

// lexersByName returns the lexers by the names that documents use. Extensions begin with a full stop. The library is
// not asked, because it compares an unknown name with the patterns of all files, which takes milliseconds.
var lexersByName = sync.OnceValue(func() map[string]chroma.Lexer {
	files, known := map[string]chroma.PrioritisedLexers{}, map[string]chroma.Lexer{}
	for _, lexer := range lexers.GlobalLexerRegistry.Lexers {
		for _, pattern := range lexer.Config().Filenames {
			name := strings.TrimPrefix(pattern, "*")
			files[name] = append(files[name], lexer)
		}
	}
	for name, of := range files {
		sort.Sort(of)
		known[name] = of[0]
	}
	for _, name := range lexers.Names(true) {
		known[name], known[strings.ToLower(name)] = lexers.Get(name), lexers.Get(strings.ToLower(name))
	}
	return known
})

// highlight returns the lines of a code as HTML, coloured until the context ends. It never changes the text: if a lexer
// changes it or fails, the lines are plain.
func highlight(ctx context.Context, lexer chroma.Lexer, code string) (out []string) {
	if lexer == nil || len(code) > maxHighlighted || ctx.Err() != nil {
		return escapedLines(code)
	}
	defer func() {
		if recover() != nil {
			out = escapedLines(code)
		}
	}()
	next, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return escapedLines(code)
	}
	var l lineWriter
	done := 0
	for t, n := next(), 0; t != chroma.EOF; t, n = next(), n+1 {
		if !strings.HasPrefix(code[done:], t.Value) {
			return escapedLines(code)
		}
		done += len(t.Value)
		l.write(t.Value, classOf(t.Type))
		if n%64 == 0 && ctx.Err() != nil {
			break
		}
	}
	l.write(code[done:], "")
	return append(l.done, l.line.String())
}

// lineWriter splits coloured text into lines.
type lineWriter struct {
	done []string
	line strings.Builder
}

func (l *lineWriter) write(text, class string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			l.done = append(l.done, l.line.String())
			l.line.Reset()
		}
		switch {
		case part == "":
		case class == "":
			l.line.WriteString(escape(part))
		default:
			l.line.WriteString(`<span class="` + class + `">` + escape(part) + `</span>`)
		}
	}
}

// tokenClasses has the CSS classes of the tokens that have a colour.
var tokenClasses = map[chroma.TokenType]string{
	chroma.Keyword:            "c-k",
	chroma.KeywordType:        "c-t",
	chroma.NameAttribute:      "c-a",
	chroma.NameBuiltin:        "c-b",
	chroma.NameBuiltinPseudo:  "c-b",
	chroma.NameClass:          "c-t",
	chroma.NameConstant:       "c-n",
	chroma.NameDecorator:      "c-a",
	chroma.NameException:      "c-t",
	chroma.NameFunction:       "c-f",
	chroma.NameFunctionMagic:  "c-f",
	chroma.NameNamespace:      "c-t",
	chroma.NameTag:            "c-k",
	chroma.NameVariable:       "c-a",
	chroma.LiteralString:      "c-s",
	chroma.LiteralNumber:      "c-n",
	chroma.Literal:            "c-n",
	chroma.Comment:            "c-c",
	chroma.CommentPreproc:     "c-b",
	chroma.GenericDeleted:     "c-del",
	chroma.GenericInserted:    "c-ins",
	chroma.GenericHeading:     "c-f",
	chroma.GenericSubheading:  "c-f",
	chroma.GenericEmph:        "c-em",
	chroma.GenericStrong:      "c-st",
	chroma.GenericOutput:      "c-c",
	chroma.GenericPrompt:      "c-b",
	chroma.OperatorWord:       "c-k",
	chroma.KeywordConstant:    "c-n",
	chroma.LiteralStringRegex: "c-b",
}

func classOf(t chroma.TokenType) string {
	for _, kind := range []chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := tokenClasses[kind]; ok {
			return class
		}
	}
	return ""
}
