package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vitrine/shared/fault"
	"vitrine/shared/limits"
)

const (
	bodyMost  = limits.JSONBody
	depthMost = 64 // levels of objects and arrays; our deepest shape has 4
)

// nestedDeeper tells whether JSON has more than most levels. It looks at brackets only, so that no parser recurses.
func nestedDeeper(data []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// format is JSON both ways. Reading is strict (one value, UTF-8, no key twice, keys as they are spelt), because two
// readers of a lax text may see two different requests.
var format = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		body, err := encode(v)
		if err == nil {
			w.Write(body) // a failure means that the client left
		}
		return err
	},
	Unmarshal: func(data []byte, v any) error { return explain(strict.Unmarshal(data, v)) },
}

// encode writes JSON whose URLs stay readable.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// explain says where JSON is wrong without quoting it.
func explain(err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *strict.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return fmt.Errorf("the key %s stands twice in its object", shorten(string(syntax.JSONPointer)))
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON in UTF-8, at byte %d", syntax.ByteOffset)
	case errors.As(err, &meaning):
		return fmt.Errorf("the value of %s does not fit; integers have no fraction and no exponent", shorten(string(meaning.JSONPointer)))
	}
	return errors.New("not one JSON value")
}

const (
	toldMost  = 5   // what is wrong with a request is told up to this often
	placeMost = 120 // bytes of the name of a place; a client may have made it up
)

// invalid makes huma's findings one refusal: each names the place and what belongs there, never what was sent.
func invalid(msg string, findings []error) error {
	var told []string
	for _, err := range findings {
		if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			what, _, _ := strings.Cut(d.Message, ": ") // what follows quotes the value
			told = append(told, shorten(d.Location)+": "+what)
		}
	}
	if len(told) == 0 {
		return fault.New(fault.InvalidRequest, "%s", msg)
	}
	slices.Sort(told)
	if more := len(told) - toldMost; more > 0 {
		told = append(told[:toldMost], fmt.Sprintf("and %d more", more))
	}
	return fault.New(fault.InvalidRequest, "%s", strings.Join(told, "; "))
}

func shorten(place string) string {
	if len(place) <= placeMost {
		return place
	}
	cut := placeMost
	for !utf8.RuneStart(place[cut]) {
		cut--
	}
	return place[:cut] + "…"
}

// huma's settings are of the whole process, so they are made here once for all hosts.
func init() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.ErrorFormatter = plainNumbers
	validation.MsgUnexpectedProperty = "this key is not known here; leave it out"
	huma.NewError = func(int, string, ...error) huma.StatusError { return new(errorEnvelope) }
	huma.NewErrorWithContext = refuseHuma
}

// plainNumbers keeps limits such as 26214400 from being told as 2.62144e+07.
func plainNumbers(format string, args ...any) string {
	for i, a := range args {
		if f, ok := a.(float64); ok {
			args[i] = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return fmt.Sprintf(format, args...)
}
