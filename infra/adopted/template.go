package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// synthesis is what is read of the folder that scripts/synth writes, and of the settings that scripts/deploy writes.
type synthesis struct {
	Name, Settings string
	Adopted        map[string]string // names of tables and bucket, by the construct that they replace
	resources      map[string]resource
	outputs        map[string]string // of the stack Data
}

type resource struct {
	Properties any
	Metadata   struct {
		Path string `json:"aws:cdk:path"`
	}
}

// read reads a synthesis from a folder.
func read(folder string) (s synthesis, err error) {
	if err := unpack(filepath.Join(folder, "deployment.json"), &s); err != nil {
		return s, err
	}
	stack := s.Name + "-Data"
	var template struct{ Resources map[string]resource }
	if err := unpack(filepath.Join(folder, stack+".template.json"), &template); err != nil {
		return s, err
	}
	var outputs map[string]map[string]string
	if err := unpack(s.Settings, &outputs); err != nil {
		return s, err
	}
	s.resources, s.outputs = template.Resources, outputs[stack]
	return s, nil
}

func unpack(file string, into any) error {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return nil
}

// construct returns the path of a resource within the stack Data, as Core.
func (s synthesis) construct(id string) string {
	path := strings.TrimPrefix(s.resources[id].Metadata.Path, s.Name+"-Data/")
	return strings.TrimSuffix(path, "/Resource")
}

// own returns the properties of what the deployment makes itself. References become what the stack gives out.
func (s synthesis) own(construct string) (any, error) {
	for id, r := range s.resources {
		if s.construct(id) == construct {
			return s.resolved(r.Properties)
		}
	}
	return nil, fmt.Errorf("the template of %s-Data has no %s: run scripts/synth again", s.Name, construct)
}

// given maps constructs to the outputs that name what they are in the account.
var given = map[string]string{"Key": "Key", "AccessLog": "AccessLog", "Copy": "CopyRole"}

func (s synthesis) resolved(v any) (_ any, err error) {
	switch v := v.(type) {
	case map[string]any:
		if id := referred(v); id != "" {
			return s.reference(id)
		}
		for name, member := range v {
			if v[name], err = s.resolved(member); err != nil {
				return nil, err
			}
		}
	case []any:
		for n, member := range v {
			if v[n], err = s.resolved(member); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// referred returns the ID that a reference names; empty: it is no reference.
func referred(v map[string]any) string {
	if id, ok := v["Ref"].(string); ok {
		return id
	}
	id, _ := at(v, "Fn::GetAtt", 0).(string)
	return id
}

func (s synthesis) reference(id string) (any, error) {
	if strings.HasPrefix(id, "AWS::") {
		return nil, nil
	}
	value := s.outputs[given[s.construct(id)]]
	if value == "" {
		return nil, fmt.Errorf("the stack %s-Data gives out no %s yet: deploy once without the option bucket, because a "+
			"bucket that is adopted needs it", s.Name, s.construct(id))
	}
	return value, nil
}

// at follows a path through unpacked JSON; a number is an index of a list. It returns nil where the path ends early.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if v = nil; step < len(l) {
				v = l[step]
			}
		}
	}
	return v
}
