package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

const functionType = "AWS::Lambda::Function"

// stack is one template.
type stack struct {
	name string
	all  []*stack // whose exports may be imported

	Resources map[string]resource
	Outputs   map[string]struct {
		Value  any
		Export struct{ Name string }
	}
}

type resource struct {
	Type       string
	Properties map[string]any
	Metadata   map[string]any
	Condition  string
}

// properties resolves a resource into a struct. Properties of fixed are understood with that value alone, and those of
// ignored do not matter here. Any other that the struct lacks is an error, because its effect would be unknown.
func (s *stack) properties(id string, into any, fixed map[string]string, ignored ...string) error {
	r, there := s.Resources[id]
	if !there {
		return fmt.Errorf("%q: %w", id, errNoResource)
	}
	if r.Condition != "" {
		return s.wrong(id, errors.New("a condition is not understood"))
	}
	left := maps.Clone(r.Properties)
	for _, name := range ignored {
		delete(left, name)
	}
	v, err := (&resolver{stack: s}).object(left)
	if err != nil {
		return s.wrong(id, err)
	}
	for _, name := range sorted(fixed) {
		if v[name] != fixed[name] {
			return s.wrong(id, fmt.Errorf("%s %v is not understood, only %q", name, v[name], fixed[name]))
		}
		delete(v, name)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return s.wrong(id, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return s.wrong(id, fmt.Errorf("its properties are not understood: %w", err))
	}
	return nil
}

func (s *stack) wrong(id string, err error) error {
	return fmt.Errorf("%s %s: %w", s.Resources[id].Type, id, err)
}

// ofType lists the logical ids of a type.
func (s *stack) ofType(t string) (ids []string) {
	for _, id := range sorted(s.Resources) {
		if s.Resources[id].Type == t {
			ids = append(ids, id)
		}
	}
	return ids
}

// arn returns the ARN of a function, by which the URI of an integration names it.
func arn(stack, id string) string {
	return "arn:aws:lambda:" + pseudo["AWS::Region"] + ":" + pseudo["AWS::AccountId"] + ":function:" + stack + "-" + id
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
