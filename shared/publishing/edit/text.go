package edit

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/tree"
)

// Text is a file that is sent as a whole.
type Text struct {
	Body string
	Mode media.Mode // html, markdown or text
}

// entryFiles are the paths of texts.
var entryFiles = map[media.Mode]string{
	media.HTML:     "index.html",
	media.Markdown: "index.md",
	media.Text:     "content.txt",
}

// check returns the path of the text, or refuses it.
func (t Text) check() (path string, err error) {
	path, ok := entryFiles[t.Mode]
	switch {
	case !ok:
		return "", fault.New(fault.InvalidRequest, "the render mode of a text is html, markdown or text")
	case len(t.Body) > limits.Text:
		return "", tooLong()
	case !utf8.ValidString(t.Body):
		return "", fault.New(fault.InvalidRequest, "the text is not valid UTF-8")
	}
	return path, nil
}

func tooLong() error {
	return fault.New(fault.FileSizeCapExceeded,
		"a text that is sent or changed as a whole has at most %d bytes; upload a larger file by an upload session",
		limits.Text)
}

// Replacement replaces Old by New, both literally. Old has to occur exactly once, or at least once if All is set.
type Replacement struct {
	Old, New string
	All      bool
}

// Reason says why an edit is impossible. Messages of failures begin with it, because clients look for it there.
type Reason string

// The reasons. In messages the first three are followed by the index of the edit, from zero, and all of them by advice.
const (
	NotFound     Reason = "not_found"        // Old does not occur
	NotUnique    Reason = "not_unique"       // Old occurs more often than once
	EmptyOld     Reason = "empty_old_string" // Old is empty
	BaseNotText  Reason = "base_not_text"    // the file is not valid UTF-8
	PathNotThere Reason = "path_not_in_base" // the revision has no such file
)

// advice tells the caller what to do about a reason. In messages it follows the file or the edit.
var advice = map[Reason]string{
	NotFound:     "is not in the file; read it again and send the text exactly as it is after the edits before this one",
	NotUnique:    "is in the file more than once; send more of the text around it, or replace_all",
	EmptyOld:     "is empty; send the text that is to be replaced",
	BaseNotText:  "is not text in UTF-8, so no passage of it can be replaced; upload the whole file",
	PathNotThere: "is not in the newest revision; send a path as the list of its files has it",
}

// refuse returns the refusal of all edits of a file.
func (r Reason) refuse(path string) error {
	return fault.New(fault.InvalidRequest, "%s: the file %s %s", r, quoted(path), advice[r])
}

// refuseEdit returns the refusal of the edit at index n.
func (r Reason) refuseEdit(n int, e Replacement) error {
	return fault.New(fault.InvalidRequest, "%s (edit %d): edits[%d].old_string %s %s", r, n, n, quoted(e.Old), advice[r])
}

// quoted returns the beginning of a caller's text in quotes.
func quoted(sent string) string {
	const most = 80
	short := text.Cut(sent, most)
	if len(short) < len(sent) {
		short += "…"
	}
	return strconv.Quote(short)
}

// maxWork bounds the work of all edits of one request, in bytes of text that are searched. In a hostile text a search
// takes some nanoseconds for each byte. A replaced part counts as partWork bytes, however short it is.
const (
	maxWork  = 128 * limits.MiB
	partWork = 64
)

// replaceAll applies edits in order.
func replaceAll(text string, edits []Replacement) (string, error) {
	work := 0
	for n, e := range edits {
		first, count, why := e.find(text)
		if why != "" {
			return "", why.refuseEdit(n, e)
		}
		if work += len(text) + count*partWork; work > maxWork {
			return "", fault.New(fault.InvalidRequest, "these are too many edits of a text as long as this one; send fewer "+
				"edits in one request, or the whole text")
		}
		if len(text)+count*(len(e.New)-len(e.Old)) > limits.Text { // checked before the result takes memory
			return "", tooLong()
		}
		text = text[:first] + strings.Replace(text[first:], e.Old, e.New, count)
	}
	if !utf8.ValidString(text) {
		return "", fault.New(fault.InvalidRequest, "an edit makes the text invalid UTF-8")
	}
	return text, nil
}

// find returns the position of the first part that the edit replaces and the number of parts, or why it replaces none.
// Two parts that overlap count as two, because it is not clear which one the edit means.
func (r Replacement) find(text string) (first, count int, why Reason) {
	if r.Old == "" {
		return 0, 0, EmptyOld
	}
	first = strings.Index(text, r.Old)
	switch {
	case first < 0:
		return 0, 0, NotFound
	case r.All:
		return first, strings.Count(text[first:], r.Old), ""
	case strings.Contains(text[first+1:], r.Old):
		return 0, 0, NotUnique
	}
	return first, 1, ""
}

// read returns the text of a file.
func (s *Service) read(ctx context.Context, home id.Workspace, files tree.Tree, path string) (string, error) {
	f, ok := files.Find(path)
	switch {
	case !ok:
		return "", PathNotThere.refuse(path)
	case f.Size > limits.Text:
		return "", tooLong()
	case f.Size == 0:
		return "", nil
	}
	body, err := s.Objects.Open(ctx, home, f.Object, 0, f.Size)
	if fault.KindOf(err) == fault.KindNotFound {
		return "", fault.New(fault.RevisionRetained, "the bytes of the revision are gone")
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := f.ReadAll(body)
	if err == nil && !utf8.ValidString(text) {
		err = BaseNotText.refuse(path)
	}
	return text, err
}
