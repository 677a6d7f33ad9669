package comparison

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"vitrine/shared/platform/limits"
)

// BlockKind is the kind of a block of a markdown text.
type BlockKind string

// The kinds of blocks.
const (
	Paragraph BlockKind = "paragraph"
	Heading   BlockKind = "heading"
	ListItem  BlockKind = "list item"
	Quote     BlockKind = "quote"
	Grid      BlockKind = "table"
	Code      BlockKind = "code"
)

// Block is a block of a markdown text that differs.
type Block struct {
	Kind     BlockKind
	Op       Op
	From, To int // its first line in each revision; 0: that revision does not have it
	Skipped  int // equal blocks since the last one that differs
	Runs     []Run
}

func (b Block) weight() weight {
	w := weight{0, 1 + len(b.Runs)}
	for _, r := range b.Runs {
		w.bytes += len(r.Text)
		w.lines += strings.Count(r.Text, "\n")
	}
	return w
}

// compareBlocks returns the blocks that differ between two markdown texts.
func compareBlocks(before, after string) (out []Block) {
	from, to := blocks(before), blocks(after)
	end := 0 // of the last change
	for _, d := range lcs.DiffLines(textsOf(from), textsOf(to)) {
		first := len(out)
		out = append(out, matchBlocks(from[d.Start:d.End], to[d.ReplStart:d.ReplEnd])...)
		out[first].Skipped = d.Start - end
		end = d.End
	}
	return out
}

// lookahead is how many blocks or rows of a change are compared to find the one that an old block or row became.
const lookahead = 8

// matchBlocks compares the blocks that a change removes with those that it adds. It reports two blocks of one kind with
// many common words as one changed block.
func matchBlocks(from, to []block) (out []Block) {
	next := 0
	before, after := sortedWords(from), sortedWords(to)
	for i, old := range from {
		match := -1
		for n := next; n < min(next+lookahead, len(to)) && match < 0; n++ {
			if old.kind == to[n].kind && similar(before[i], after[n]) {
				match = n
			}
		}
		if match < 0 {
			out = append(out, Block{
				Kind: old.kind,
				Op:   Removed,
				From: old.line,
				Runs: []Run{{Removed, old.text}},
			})
			continue
		}
		out = append(out, fresh(to[next:match])...)
		out = append(out, Block{
			Kind: old.kind,
			Op:   Changed,
			From: old.line,
			To:   to[match].line,
			Runs: compareWords(old.text, to[match].text, old.kind != Code),
		})
		next = match + 1
	}
	return append(out, fresh(to[next:])...)
}

func fresh(added []block) (out []Block) {
	for _, b := range added {
		out = append(out, Block{
			Kind: b.kind,
			Op:   Added,
			To:   b.line,
			Runs: []Run{{Added, b.text}},
		})
	}
	return out
}

// similar reports whether two texts have at least 2 of 5 words in common, in any order. The words are sorted.
func similar(x, y []string) bool {
	common := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch strings.Compare(x[i], y[j]) {
		case 0:
			common++
			i++
			j++
		case -1:
			i++
		default:
			j++
		}
	}
	return 5*common >= len(x)+len(y) // 2*common words, because each is in both texts
}

// sortedWords returns the words of blocks without the spaces between them.
func sortedWords(list []block) [][]string {
	out := make([][]string, len(list))
	for n, b := range list {
		out[n] = slices.DeleteFunc(words(b.text), func(word string) bool { return strings.TrimSpace(word) == "" })
		slices.Sort(out[n])
	}
	return out
}

// block is a block of a text.
type block struct {
	kind BlockKind
	line int // the first one
	text string
}

// textsOf returns the texts by which blocks are compared. Line breaks matter only in code.
func textsOf(list []block) []string {
	out := make([]string, len(list))
	for n, b := range list {
		if b.kind != Code {
			b.text = strings.Join(strings.Fields(b.text), " ")
		}
		out[n] = string(b.kind) + "\n" + b.text
	}
	return out
}

// blocks divides a markdown text into blocks. It does not know all of markdown, only what divides blocks for a reader:
// blank lines, headings, list items and fences. It divides a block that is too long.
func blocks(text string) []block {
	s := splitter{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		s.line++
		s.take(strings.TrimSuffix(line, "\n"))
	}
	s.end()
	return s.out
}

// maxBlockLines bounds the lines of a block.
const maxBlockLines = 100

// splitter divides a text into blocks, line by line.
type splitter struct {
	out   []block
	line  int
	open  *block // the block that the next line may continue
	fence string // the fence that began the open block; empty: none did
}

func (s *splitter) take(line string) {
	trimmed := strings.TrimSpace(line)
	switch kind := kindOfLine(line, trimmed); {
	case s.fence != "":
		s.add(Code, line)
		if strings.HasPrefix(trimmed, s.fence) && strings.Trim(trimmed, s.fence[:1]) == "" {
			s.end()
		}
	case trimmed == "":
		s.end()
	case kind == Code:
		s.end()
		s.add(Code, line)
		s.fence = fenceOf(trimmed)
	case kind == Heading:
		s.end()
		s.add(Heading, line)
		s.end()
	case kind == ListItem:
		s.end()
		s.add(ListItem, line)
	case s.open != nil && kind == Paragraph: // a lazy continuation of a block of any kind
		s.add(s.open.kind, line)
	default:
		if s.open != nil && s.open.kind != kind {
			s.end()
		}
		s.add(kind, line)
	}
}

// add adds a line to the open block, or begins one with it.
func (s *splitter) add(kind BlockKind, line string) {
	if s.open != nil && len(s.open.text)+1+len(line) <= limits.ComparedLine && s.line-s.open.line < maxBlockLines {
		s.open.text += "\n" + line
		return
	}
	fence := s.fence
	s.end()
	s.open = &block{kind, s.line, line}
	s.fence = fence
}

func (s *splitter) end() {
	if s.open != nil {
		s.out = append(s.out, *s.open)
	}
	s.open, s.fence = nil, ""
}

// kindOfLine returns the kind of block that a line begins.
func kindOfLine(line, trimmed string) BlockKind {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case indent < 4 && fenceOf(trimmed) != "":
		return Code
	case indent < 4 && isHeading(trimmed):
		return Heading
	case isItem(trimmed):
		return ListItem
	case strings.HasPrefix(trimmed, ">"):
		return Quote
	case strings.HasPrefix(trimmed, "|"):
		return Grid
	}
	return Paragraph
}

// fenceOf returns the characters with which a line fences code, empty if it does not.
func fenceOf(trimmed string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(trimmed, c)
		if n := len(trimmed) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return trimmed[:n]
		}
	}
	return ""
}

func isHeading(trimmed string) bool {
	rest := strings.TrimLeft(trimmed, "#")
	level := len(trimmed) - len(rest)
	return level >= 1 && level <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isItem reports whether a line begins an item of a list.
func isItem(trimmed string) bool {
	rest := strings.TrimLeft(trimmed, "0123456789")
	switch digits := len(trimmed) - len(rest); {
	case digits > 9 || rest == "":
		return false
	case digits > 0 && rest[0] != '.' && rest[0] != ')':
		return false
	case digits == 0 && !strings.ContainsRune("-*+", rune(rest[0])):
		return false
	}
	return len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t')
}
