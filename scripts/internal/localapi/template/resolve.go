package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pseudo are the pseudo parameters of CloudFormation; the account and the region are made up.
var pseudo = map[string]string{
	"AWS::Region":    "us-east-1",
	"AWS::AccountId": "000000000000",
	"AWS::Partition": "aws",
	"AWS::URLSuffix": "amazonaws.com",
}

// resolver replaces intrinsic functions by their values. Values that only a deployment has become
// placeholders: the logical id for Ref, "id.Attribute" for Fn::GetAtt, and a complete ARN for that
// of a function.
type resolver struct {
	stack  *stack
	placed bool // a placeholder is among the values so far
}

// noValue is the value of AWS::NoValue: the property counts as absent.
type noValue struct{}

func (r *resolver) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return r.list(v)
	case map[string]any:
		if len(v) == 1 {
			for name, argument := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return r.call(name, argument)
				}
			}
		}
		return r.object(v)
	}
	return v, nil
}

func (r *resolver) list(in []any) (any, error) {
	out := []any{}
	for _, v := range in {
		v, err := r.value(v)
		if err != nil {
			return nil, err
		}
		if v != (noValue{}) {
			out = append(out, v)
		}
	}
	return out, nil
}

func (r *resolver) object(in map[string]any) (any, error) {
	out := map[string]any{}
	for _, name := range sorted(in) {
		v, err := r.value(in[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if v != (noValue{}) {
			out[name] = v
		}
	}
	return out, nil
}

func (r *resolver) call(name string, argument any) (any, error) {
	call, known := map[string]func(any) (any, error){
		"Ref":             r.ref,
		"Fn::GetAtt":      r.attribute,
		"Fn::Join":        r.join,
		"Fn::Sub":         r.substitute,
		"Fn::Select":      r.pick,
		"Fn::Split":       r.split,
		"Fn::ImportValue": r.imported,
	}[name]
	if !known {
		return nil, fmt.Errorf("%s is not understood", name)
	}
	v, err := call(argument)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, short(argument), err)
	}
	return v, nil
}

func (r *resolver) ref(argument any) (any, error) {
	name, _ := argument.(string)
	if name == "AWS::NoValue" {
		return noValue{}, nil
	}
	if v, known := pseudo[name]; known {
		return v, nil
	}
	switch name {
	case "AWS::StackName", "AWS::StackId":
		return r.stack.name, nil
	}
	if p, declared := r.stack.Parameters[name]; declared {
		if p.Default == nil {
			return nil, errors.New("the parameter has no default")
		}
		return r.value(p.Default)
	}
	if _, made := r.stack.Resources[name]; !made {
		return nil, errors.New("the template has no such resource")
	}
	r.placed = true
	return name, nil
}

func (r *resolver) attribute(argument any) (any, error) {
	var id, attribute string
	switch a := argument.(type) {
	case string:
		id, attribute, _ = strings.Cut(a, ".")
	case []any:
		if len(a) == 2 {
			id, _ = a[0].(string)
			attribute, _ = a[1].(string)
		}
	}
	made, known := r.stack.Resources[id]
	if !known || attribute == "" {
		return nil, errors.New("the template has no such resource")
	}
	r.placed = true
	if made.Type == functionType && attribute == "Arn" {
		return r.stack.arn(id), nil
	}
	return id + "." + attribute, nil
}

// arn returns the ARN of a function, by which functionAt finds it again.
func (s *stack) arn(id string) string {
	return "arn:aws:lambda:" + pseudo["AWS::Region"] + ":" + pseudo["AWS::AccountId"] + ":function:" + s.name + "-" + id
}

// separated returns the arguments of a function: a separator, and what it separates.
func separated(argument any, what string) (separator string, operand any, err error) {
	a, _ := argument.([]any)
	if len(a) != 2 {
		return "", nil, errors.New("needs a separator and a " + what)
	}
	separator, _ = a[0].(string)
	return separator, a[1], nil
}

func (r *resolver) join(argument any) (any, error) {
	separator, list, err := separated(argument, "list")
	if err != nil {
		return nil, err
	}
	parts, err := r.texts(list)
	return strings.Join(parts, separator), err
}

func (r *resolver) split(argument any) (any, error) {
	separator, text, err := separated(argument, "text")
	if err != nil {
		return nil, err
	}
	whole, err := r.text(text)
	var parts []any
	for part := range strings.SplitSeq(whole, separator) {
		parts = append(parts, part)
	}
	return parts, err
}

func (r *resolver) pick(argument any) (any, error) {
	a, _ := argument.([]any)
	if len(a) != 2 {
		return nil, errors.New("needs an index and a list")
	}
	at, err := r.text(a[0])
	if err != nil {
		return nil, err
	}
	parts, err := r.texts(a[1])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 0 || n >= len(parts) {
		return nil, fmt.Errorf("the list has %d parts", len(parts))
	}
	return parts[n], nil
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

func (r *resolver) substitute(argument any) (any, error) {
	whole, _ := argument.(string)
	own := map[string]any{}
	if a, _ := argument.([]any); len(a) == 2 {
		whole, _ = a[0].(string)
		own, _ = a[1].(map[string]any)
	}
	var failed error
	return variable.ReplaceAllStringFunc(whole, func(found string) string {
		name := strings.TrimSpace(found[2 : len(found)-1])
		if literal, is := strings.CutPrefix(name, "!"); is {
			return "${" + literal + "}"
		}
		v, given := own[name]
		switch {
		case given:
		case strings.Contains(name, "."):
			v = map[string]any{"Fn::GetAtt": name}
		default:
			v = map[string]any{"Ref": name}
		}
		text, err := r.text(v)
		failed = errors.Join(failed, err)
		return text
	}), failed
}

// imported looks up the export in all templates of the folder.
func (r *resolver) imported(argument any) (any, error) {
	name, err := r.text(argument)
	if err != nil {
		return nil, err
	}
	for _, s := range r.stack.all {
		from := &resolver{stack: s}
		for _, id := range sorted(s.Outputs) {
			output := s.Outputs[id]
			if output.Export.Name == nil {
				continue
			}
			if exported, err := from.text(output.Export.Name); err != nil || exported != name {
				continue
			}
			v, err := from.value(output.Value)
			r.placed = r.placed || from.placed
			return v, err
		}
	}
	return nil, errors.New("no template of the folder exports it")
}

func (r *resolver) text(v any) (string, error) {
	v, err := r.value(v)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, float64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("%s is no text", short(v))
}

func (r *resolver) texts(v any) ([]string, error) {
	v, err := r.value(v)
	if err != nil {
		return nil, err
	}
	list, is := v.([]any)
	if !is {
		return nil, fmt.Errorf("%s is no list", short(v))
	}
	var out []string
	for _, v := range list {
		text, err := r.text(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// properties resolves a resource into a struct that names every property which is understood or
// does not matter here. A property that the struct lacks is an error, because its effect on the
// gateway would be unknown.
func (s *stack) properties(id string, into any) error {
	r := s.Resources[id]
	if r.Condition != "" {
		return s.wrong(id, errors.New("a condition is not understood"))
	}
	v, err := (&resolver{stack: s}).value(map[string]any(r.Properties))
	if err != nil {
		return s.wrong(id, err)
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

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func short(v any) string {
	text, _ := json.Marshal(v) // it came from JSON
	if len(text) > 80 {
		text = append(text[:77], "..."...)
	}
	return string(text)
}
