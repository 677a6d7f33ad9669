package render

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/markdown"
	"vitrine/shared/publishing/prose"
)

// Text writes a file as plain text for programs: Markdown as it is, a table as lines of cells with tabs between them, a
// notebook as its cells and their outputs. The last lines say what is left out. Its refusals are those of Page.
func (r *Renderer) Text(ctx context.Context, w io.Writer, s Source) error {
	ctx, cancel := context.WithTimeout(ctx, maxPageTime)
	defer cancel()
	held, err := r.admission.reserve(ctx, s)
	if err != nil {
		return err
	}
	defer held.set(&held.reader, false)
	b := new(body)
	out := bufio.NewWriter(w)
	switch media.ViewOf(s.Path) {
	case media.TableView:
		err = s.tableText(ctx, out, b)
	case media.NotebookView:
		err = s.notebookText(ctx, out, b)
	default:
		err = s.sourceText(ctx, out, b)
	}
	if errors.Is(err, errFailed) {
		fmt.Fprintf(out, "This file cannot be shown as text: %s.\n", reason(err))
		err = nil
	}
	if err != nil {
		return err
	}
	for _, note := range b.notes {
		fmt.Fprintf(out, "\n(%s)\n", note)
	}
	return out.Flush()
}

func (s Source) sourceText(ctx context.Context, w io.Writer, b *body) error {
	source, err := s.read(ctx, markdown.Most)
	if err != nil {
		return err
	}
	if s.File.Size > markdown.Most {
		b.note("Only the first %s of %s are here.", size(markdown.Most), size(s.File.Size))
	}
	_, err = w.Write(text8(source))
	return err
}

// oneLine replaces tabs and line ends, so that a cell does not look like several.
var oneLine = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

func (s Source) tableText(ctx context.Context, w *bufio.Writer, b *body) error {
	t, err := s.table(ctx, b, order{column: -1})
	if err != nil {
		return err
	}
	line := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				w.WriteByte('\t')
			}
			w.WriteString(oneLine.Replace(cell))
		}
		w.WriteByte('\n')
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.title(i)
	}
	line(names)
	for _, r := range t.rows {
		line(r.cells)
	}
	if len(t.rows) < t.count {
		b.note("Only %d of %d rows are here.", len(t.rows), t.count)
	}
	return nil
}

func (s Source) notebookText(ctx context.Context, w io.Writer, b *body) error {
	cells, language, err := s.readNotebook(ctx)
	if err != nil {
		return err
	}
	left := maxOutputs
	for i, c := range cells.shown {
		source := strings.TrimRight(string(text8([]byte(c.Source+c.Input))), "\n")
		if c.Type != "code" {
			fmt.Fprintf(w, "%s\n\n", source)
			continue
		}
		fmt.Fprintf(w, "--- cell %d, %s ---\n%s\n", i+1, language, source)
		outputs, err := outputsOf(c.Outputs, &left)
		if err != nil {
			return err
		}
		for _, o := range merged(outputs) {
			if text := strings.TrimRight(prose.Control.ReplaceAllString(o.plain(), ""), "\n"); text != "" {
				fmt.Fprintf(w, "--- output ---\n%s\n", clip(string(text8([]byte(text))), maxOutput))
			}
		}
		fmt.Fprintln(w)
	}
	if len(cells.shown) < cells.count || left < 0 {
		b.note("Only %d of %d cells and %d outputs are here.", len(cells.shown), cells.count, maxOutputs-max(left, 0))
	}
	return nil
}

// plain returns an output as text. An image is shown by its media type.
func (o output) plain() string {
	switch {
	case o.Type == "stream":
		return string(o.Text)
	case o.Traceback != "":
		return string(o.Traceback)
	case o.Name != "":
		return o.Name + ": " + o.Value
	}
	data := o.data()
	for _, kind := range []string{"text/plain", "text/markdown", "text/latex"} {
		if data[kind] != "" {
			return string(data[kind])
		}
	}
	for _, kind := range pictures {
		if data[kind] != "" {
			return "[" + kind + "]"
		}
	}
	return ""
}
