package prose

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"vitrine/shared/publishing/markdown"
)

// notebook is the part of the Jupyter notebook format, version 4, that is read. Of an output that is its plain form.
type notebook struct {
	Cells list[struct {
		Type    string       `json:"cell_type"`
		Source  list[string] `json:"source"`
		Outputs list[struct {
			Text list[string] `json:"text"`
			Data struct {
				Plain list[string] `json:"text/plain"`
			} `json:"data"`
		}] `json:"outputs"`
	}] `json:"cells"`
}

// maxParts is how many parts of a list are read.
const maxParts = 100_000

// list has the first parts of a list. The format may store a list of lines as one text.
type list[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *list[T]) UnmarshalJSON(b []byte) error {
	var one T
	d := json.NewDecoder(bytes.NewReader(b))
	switch first, err := d.Token(); first.(type) {
	case nil:
		return err
	case string:
		*l = make(list[T], 1)
		return json.Unmarshal(b, &(*l)[0])
	case json.Delim:
		for err == nil && d.More() && len(*l) < maxParts {
			*l = append(*l, one)
			err = d.Decode(&(*l)[len(*l)-1])
		}
		return err
	}
	return errors.New("it is no list")
}

// notebook adds the text of the cells and their outputs. It returns false if the file is no notebook. A cell whose
// Markdown costs too much is as it is.
func (p *page) notebook(source []byte) bool {
	var n notebook
	if json.Unmarshal(source, &n) != nil {
		return false
	}
	budget := markdown.NewBudget()
	for _, c := range n.Cells {
		text := []byte(strings.Join(c.Source, ""))
		if c.Type != "markdown" || p.markdown(text, budget) != nil {
			p.verbatim(text)
		}
		for _, o := range c.Outputs {
			p.verbatim(Control.ReplaceAll([]byte(strings.Join(append(o.Text, o.Data.Plain...), "")), nil))
		}
	}
	return len(n.Cells) > 0
}
