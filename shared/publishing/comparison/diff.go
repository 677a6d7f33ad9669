package comparison

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// texts is a change with the contents of its files.
type texts struct {
	tree.Change
	before, after string
	omitted       Omission
}

// Omission says why the contents of a changed file are not compared.
type Omission string

// The reasons. Empty means that the contents are compared.
const (
	NotText      Omission = "not_text"
	TooLarge     Omission = "too_large"
	TooManyLines Omission = "too_many_lines"
	LongLine     Omission = "long_line"
)

// String returns the reason in words for a reader of diffs.
func (o Omission) String() string {
	switch o {
	case NotText:
		return "The file is not text; compare it by its digests."
	case TooLarge:
		return fmt.Sprintf("The file has more than %d bytes; compare it by its digests, or read both.", limits.ComparedFile)
	case TooManyLines:
		return fmt.Sprintf("The file has %d lines or more; read both revisions of it.", limits.ComparedLines)
	case LongLine:
		return fmt.Sprintf("The file has a line of more than %d bytes, so that a diff by lines says little; read both "+
			"revisions of it.", limits.ComparedLine)
	}
	return ""
}

// unread returns why the files of a change are not read for a diff, empty if they are.
func unread(c tree.Change) Omission {
	for _, f := range []*tree.File{c.From, c.To} {
		switch {
		case f == nil || c.Kind == tree.Renamed:
		case IsBinary(f.Path):
			return NotText
		case f.Size > limits.ComparedFile:
			return TooLarge
		}
	}
	return ""
}

// IsBinary reports whether the extension of a path says that the file is not text, so that it need not be read.
func IsBinary(path string) bool {
	kind := media.Of(path).ContentType
	for _, prefix := range []string{"image/", "audio/", "video/", "font/", "application/wasm", "application/pdf"} {
		if strings.HasPrefix(kind, prefix) {
			return !media.IsSVG(path)
		}
	}
	return false
}

// unfit returns why the contents that were read have no diff, empty if they have one.
func (t texts) unfit() Omission {
	for _, text := range []string{t.before, t.after} {
		switch {
		case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
			return NotText
		case strings.Count(text, "\n") >= limits.ComparedLines:
			return TooManyLines
		case longestLine(text) > limits.ComparedLine:
			return LongLine
		}
	}
	return ""
}

func longestLine(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, len(line))
	}
	return most
}

// text reads a file, if there is one.
func (s *Service) text(ctx context.Context, home id.Workspace, f *tree.File, out *string) error {
	if f == nil || f.Size == 0 {
		return nil
	}
	body, err := s.Bytes.Open(ctx, home, f.Object, 0, f.Size)
	if fault.KindOf(err) == fault.KindNotFound {
		return missing() // the revision was purged meanwhile
	}
	if err != nil {
		return err
	}
	defer body.Close()
	*out, err = f.ReadAll(body)
	return err
}

// header returns the lines that begin a diff.
func header(c tree.Change) string {
	before, after := "/dev/null", "/dev/null"
	if c.From != nil {
		before = "a/" + c.From.Path
	}
	if c.To != nil {
		after = "b/" + c.To.Path
	}
	return "--- " + before + "\n+++ " + after + "\n"
}
