package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"vitrine/shared/platform/fault"
	words "vitrine/shared/platform/text"
)

// checkArguments refuses arguments that do not fit the schema of a tool. Its message says in words what to send,
// because a model reads it, and quotes little of what was sent.
func checkArguments(schema *jsonschema.Resolved, raw json.RawMessage) error {
	var v any
	if err := json.Unmarshal(raw, &v); err == nil && schema.Validate(v) == nil {
		return nil
	}
	said := misfit("", schema.Schema(), v)
	if said == "" {
		said = "the arguments do not fit the schema of the tool"
	}
	return fault.New(fault.InvalidRequest, "%s", said)
}

// misfit describes the first value that does not fit its schema; empty if all fit. at is the place of v.
func misfit(at string, s *jsonschema.Schema, v any) string {
	fits := false
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return misfitMember(at, s, v)
		}
	case []any:
		if fits = s.Type == "array" && *s.MinItems <= len(v) && len(v) <= *s.MaxItems; fits {
			for i, item := range v {
				if said := misfit(fmt.Sprintf("%s[%d]", at, i), s.Items, item); said != "" {
					return said
				}
			}
		}
	default:
		r, err := s.Resolve(nil)
		fits = err == nil && r.Validate(v) == nil
	}
	if fits {
		return ""
	}
	if at == "" {
		at = "arguments"
	}
	return at + " must be " + wanted(s)
}

// misfitMember describes the first misfit in an object. Unknown names come first, because such a name may be a
// misspelling of one that is missing.
func misfitMember(at string, s *jsonschema.Schema, members map[string]any) string {
	if at != "" {
		at += "."
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if s.Properties[name] == nil {
			return fmt.Sprintf("%s is not known here; send %s", at+strconv.Quote(shortened(name)), wanted(s))
		}
	}
	for _, name := range s.PropertyOrder {
		of, said := s.Properties[name], ""
		if v, sent := members[name]; sent {
			said = misfit(at+name, of, v)
		} else if slices.Contains(s.Required, name) {
			said = fmt.Sprintf("%s is missing: send %s", at+name, wanted(of))
		}
		if said != "" {
			return said
		}
	}
	return ""
}

// shortened cuts a text of the caller to what a message may quote.
func shortened(sent string) string { return words.Cut(sent, 60) }

// wanted describes in words what fits a schema.
func wanted(s *jsonschema.Schema) string {
	switch {
	case s.Type == "object" && len(s.PropertyOrder) == 0:
		return "an empty object"
	case s.Type == "object":
		return "an object with " + strings.Join(s.PropertyOrder, ", ")
	case s.Type == "array":
		return fmt.Sprintf("a list of %d to %d items", *s.MinItems, *s.MaxItems)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer" && s.Maximum != nil:
		return fmt.Sprintf("a whole number from 0 to %.0f", *s.Maximum)
	case s.Type == "integer":
		return "a whole number from 0"
	case s.Enum != nil:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", " or "), "[]")
	case s.Pattern == keyPattern:
		return fmt.Sprintf("text of %d to %d letters, digits and . _ : -", *s.MinLength, *s.MaxLength)
	case s.Pattern == digestPattern:
		return "64 hexadecimal digits in lower case"
	case s.Pattern != "":
		prefix := strings.TrimPrefix(strings.TrimSuffix(s.Pattern, idTail), "^")
		return "an id: " + prefix + " and 26 digits and capital letters, as an earlier answer has it"
	case s.MinLength == nil:
		return fmt.Sprintf("text of at most %d characters", *s.MaxLength)
	}
	return fmt.Sprintf("text of %d to %d characters", *s.MinLength, *s.MaxLength)
}
