package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type object = map[string]any

// template is a synthesised stack.
type template struct {
	Resources  map[string]*resource
	Conditions map[string]any
	Outputs    map[string]struct {
		Value  any
		Export struct{ Name string }
	}

	name, folder string
}

type resource struct {
	Type                string
	Properties          object
	Metadata            object
	Condition           string
	DependsOn           any // one ID or many
	DeletionPolicy      string
	UpdateReplacePolicy string
}

var templates = map[string]*template{}

// read loads the template of a stack, as Plain-Api.
func read(t testing.TB, stack string) *template {
	t.Helper()
	if templates[stack] == nil {
		loaded, err := load(filepath.Join(synthesised, stack+".template.json"))
		if err != nil {
			t.Fatal(err)
		}
		templates[stack] = loaded
	}
	return templates[stack]
}

// readJSON unpacks a file of the synthesis.
func readJSON(t testing.TB, into any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{synthesised}, path...)...))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func load(file string) (*template, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := &template{name: strings.TrimSuffix(filepath.Base(file), ".template.json"), folder: filepath.Dir(file)}
	return out, json.Unmarshal(text, out)
}

// eachHost runs a check on the stack of every host of every deployment.
func eachHost(t *testing.T, check func(t *testing.T, d *deployment, host string, tpl *template)) {
	eachStack(t, hostNames, check)
}

// eachFunction runs a check on the stack of every function of every deployment.
func eachFunction(t *testing.T, check func(t *testing.T, d *deployment, host string, tpl *template)) {
	eachStack(t, functionNames, check)
}

func eachStack(t *testing.T, hosts []string, check func(t *testing.T, d *deployment, host string, tpl *template)) {
	for name, d := range made {
		for _, host := range hosts {
			t.Run(name+" "+host, func(t *testing.T) { check(t, d, host, read(t, d.stackName(host))) })
		}
	}
}

// of lists the resources of a type by their construct, as Core or Api/CloudWatchRole.
func (tpl *template) of(kind string) map[string]*resource {
	out := map[string]*resource{}
	for id, r := range tpl.Resources {
		if r.Type == kind {
			out[tpl.construct(id)] = r
		}
	}
	return out
}

// after lists the constructs that a resource waits for, besides those that it refers to.
func (tpl *template) after(r *resource) (out []string) {
	for _, id := range list(r.DependsOn) {
		out = append(out, tpl.construct(id.(string)))
	}
	return out
}

// gateways lists the APIs of either kind.
func (tpl *template) gateways() map[string]*resource {
	all := tpl.of("AWS::ApiGateway::RestApi")
	maps.Copy(all, tpl.of("AWS::ApiGatewayV2::Api"))
	return all
}

// only returns the single resource of a type.
func (tpl *template) only(t testing.TB, kind string) *resource {
	t.Helper()
	all := tpl.of(kind)
	if len(all) != 1 {
		t.Fatalf("%s has %d of %s, want one", tpl.name, len(all), kind)
	}
	for _, r := range all {
		return r
	}
	return nil
}

// construct returns the path of a resource within its stack, without the part that all have.
func (tpl *template) construct(id string) string {
	r := tpl.Resources[id]
	if r == nil {
		return id // a pseudo parameter, as AWS::Region
	}
	path, _ := r.Metadata["aws:cdk:path"].(string)
	return strings.TrimSuffix(strings.TrimPrefix(path, tpl.name+"/"), "/Resource")
}

// text formats a value of a template: references by construct, those to the stack Data as if they
// were its own.
func (tpl *template) text(v any) string {
	intrinsic, _ := v.(object)
	for kind, of := range intrinsic {
		switch kind {
		case "Ref":
			return tpl.construct(of.(string))
		case "Fn::GetAtt":
			return tpl.construct(of.([]any)[0].(string)) + "." + of.([]any)[1].(string)
		case "Fn::Join":
			return tpl.join(of.([]any))
		case "Fn::ImportValue":
			return tpl.imported(of.(string))
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func (tpl *template) join(of []any) string {
	var parts []string
	for _, part := range of[1].([]any) {
		parts = append(parts, tpl.text(part))
	}
	return strings.Join(parts, of[0].(string))
}

// imported looks up an output of the stack Data.
func (tpl *template) imported(name string) string {
	stack, _, _ := strings.Cut(name, ":")
	data, err := load(filepath.Join(tpl.folder, stack+".template.json"))
	if err != nil {
		return err.Error()
	}
	for _, o := range data.Outputs {
		if o.Export.Name == name {
			return data.text(o.Value)
		}
	}
	return "nothing is exported as " + name
}

// at follows a path through properties; a number is an index of a list.
func at(t testing.TB, v any, path ...any) any {
	t.Helper()
	for n, step := range path {
		var next any
		switch s := step.(type) {
		case string:
			m, _ := v.(object)
			next = m[s]
		case int:
			if l, _ := v.([]any); s < len(l) {
				next = l[s]
			}
		}
		if next == nil {
			t.Fatalf("there is no %v", path[:n+1])
		}
		v = next
	}
	return v
}

// same compares values by their JSON.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("%s is %s, want %s", what, a, b)
	}
}

// variables returns the environment of a host's function, formatted.
func (tpl *template) variables(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range at(t, tpl.only(t, "AWS::Lambda::Function").Properties, "Environment", "Variables").(object) {
		out[name] = tpl.text(value)
	}
	return out
}

// list returns a list of what a policy has as one value or many.
func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func (tpl *template) String() string { return fmt.Sprintf("template of %s", tpl.name) }
