package template

import (
	"encoding/json"
	"errors"
	"fmt"
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
// placeholders: the logical id for Ref, that and the attribute for Fn::GetAtt, and a complete ARN for
// that of a function.
type resolver struct {
	stack  *stack
	placed bool // a placeholder is among the values so far
}

func (r *resolver) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return r.list(v)
	case map[string]any:
		for name, argument := range v {
			if len(v) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::")) {
				return r.call(name, argument)
			}
		}
		return r.object(v)
	}
	return v, nil
}

func (r *resolver) list(in []any) ([]any, error) {
	out := []any{}
	for _, v := range in {
		v, err := r.value(v)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (r *resolver) object(in map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range sorted(in) {
		v, err := r.value(in[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func (r *resolver) call(name string, argument any) (any, error) {
	call, known := map[string]func(any) (string, error){
		"Ref":             r.ref,
		"Fn::GetAtt":      r.attribute,
		"Fn::Join":        r.join,
		"Fn::ImportValue": r.imported,
	}[name]
	if !known {
		return nil, fmt.Errorf("%s is not understood", name)
	}
	v, err := call(argument)
	if err != nil {
		text, _ := json.Marshal(argument) // it came from JSON
		return nil, fmt.Errorf("%s %s: %w", name, text, err)
	}
	return v, nil
}

var errNoResource = errors.New("the template has no such resource")

func (r *resolver) ref(argument any) (string, error) {
	name, _ := argument.(string)
	if v, known := pseudo[name]; known {
		return v, nil
	}
	if _, made := r.stack.Resources[name]; !made {
		return "", errNoResource
	}
	r.placed = true
	return name, nil
}

func (r *resolver) attribute(argument any) (string, error) {
	parts, err := r.texts(argument)
	if err != nil || len(parts) != 2 {
		return "", errors.Join(errNoResource, err)
	}
	made, known := r.stack.Resources[parts[0]]
	if !known {
		return "", errNoResource
	}
	r.placed = true
	if made.Type == functionType && parts[1] == "Arn" {
		return arn(r.stack.name, parts[0]), nil
	}
	return strings.Join(parts, "."), nil
}

func (r *resolver) join(argument any) (string, error) {
	both, _ := argument.([]any)
	if len(both) != 2 {
		return "", errors.New("needs a separator and a list")
	}
	separator, _ := both[0].(string)
	parts, err := r.texts(both[1])
	return strings.Join(parts, separator), err
}

// imported looks up the export in all templates of the folder.
func (r *resolver) imported(argument any) (string, error) {
	for _, s := range r.stack.all {
		for _, output := range s.Outputs {
			if output.Export.Name != "" && output.Export.Name == argument {
				from := &resolver{stack: s}
				v, err := from.texts([]any{output.Value})
				r.placed = r.placed || from.placed
				return strings.Join(v, ""), err
			}
		}
	}
	return "", errors.New("no template of the folder exports it")
}

// texts resolves a list of texts.
func (r *resolver) texts(v any) (texts []string, err error) {
	list, _ := v.([]any)
	resolved, err := r.list(list)
	if err != nil {
		return nil, err
	}
	for _, v := range resolved {
		text, is := v.(string)
		if !is {
			return nil, fmt.Errorf("%v is no text", v)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
