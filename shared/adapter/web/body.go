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

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json/jsontext"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

const (
	maxBody  = limits.JSONBody
	maxDepth = 64 // levels of objects and arrays; the deepest shape of the contract has 4
)

// CheckJSON refuses JSON that two parsers may interpret differently, or that is nested deeply. Its errors may be shown
// to the sender.
func CheckJSON(data []byte) error { return check(data) }

// check refuses JSON that two parsers may interpret differently: text that is not UTF-8, half a surrogate pair, an
// object with the same key twice, or a number beyond 64 bits. It compares keys without letter case, because matching
// keys to fields does. It stops at maxDepth levels, so that later parsers do not recurse far. Its errors quote no
// value.
func check(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	var keys []map[string]bool // the keys of the enclosing objects so far; nil for arrays
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			at := d.InputOffset()
			if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				at = syntax.ByteOffset
			}
			return fmt.Errorf("not JSON in UTF-8, at byte %d", at)
		}
		switch token.Kind() {
		case '{':
			keys = append(keys, map[string]bool{})
		case '[':
			keys = append(keys, nil)
		case '}', ']':
			keys = keys[:len(keys)-1]
		case '0':
			if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
				return tooLarge(d.StackPointer())
			}
		case '"':
			if kind, members := d.StackIndex(d.StackDepth()); kind != '{' || members%2 == 0 {
				continue // a value
			}
			name := strings.ToLower(strings.ToUpper(token.String())) // equal for names that strings.EqualFold considers equal
			if keys[len(keys)-1][name] {
				return fmt.Errorf("the key %s stands twice in its object", shorten(string(d.StackPointer())))
			}
			keys[len(keys)-1][name] = true
		}
		if len(keys) > maxDepth {
			return fmt.Errorf("more than %d levels of objects and arrays", maxDepth)
		}
	}
}

// tooLarge returns the refusal of a number that does not fit 64 bits.
func tooLarge(at jsontext.Pointer) error {
	if at == "" {
		return errors.New("the whole body is a number that is too large")
	}
	return fmt.Errorf("the number at %s is too large", shorten(string(at)))
}

// format reads and writes the JSON of bodies that passed check.
var format = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		body, err := contract.Encode(v)
		if err == nil {
			w.Write(body) // a failure means that the client left
		}
		return err
	},
	Unmarshal: func(data []byte, v any) error {
		err := json.Unmarshal(data, v)
		if misfit, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("the value of %s does not fit; integers have no fraction and no exponent", misfit.Field)
		}
		if err != nil {
			return errors.New("not one JSON value")
		}
		return nil
	},
}

const (
	maxFindings = 5   // most findings that a refusal lists
	maxPath     = 120 // bytes of a field path, which a client may have made up
)

// invalid joins huma's findings into one refusal. Each finding names the place and what belongs there, but not what was
// sent.
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
	if more := len(told) - maxFindings; more > 0 {
		told = append(told[:maxFindings], fmt.Sprintf("and %d more", more))
	}
	return fault.New(fault.InvalidRequest, "%s", strings.Join(told, "; "))
}

func shorten(place string) string {
	if len(place) <= maxPath {
		return place
	}
	return text.Clip(place, maxPath) + "…"
}

// huma's settings are global to the process, so they are set here once for all hosts.
func init() {
	huma.DefaultArrayNullable = false
	huma.ErrorFormatter = plainNumbers
	validation.MsgUnexpectedProperty = "this key is not known here; leave it out"
	huma.NewError = func(int, string, ...error) huma.StatusError { return new(errorEnvelope) }
	huma.NewErrorWithContext = refuseHuma
}

// plainNumbers formats numbers such as 26214400 without an exponent.
func plainNumbers(format string, args ...any) string {
	for i, a := range args {
		if f, ok := a.(float64); ok {
			args[i] = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return fmt.Sprintf(format, args...)
}
