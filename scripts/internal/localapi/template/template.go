// Package template reads from synthesised CloudFormation templates what can run on one machine:
// functions, and the gateways in front of them.
package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Deployment is the content of the templates of one folder, in the order of stacks and logical ids.
type Deployment struct {
	Functions []*Function
	APIs      []*API
}

// Function is a Lambda function with a runtime of its own; others are left out.
type Function struct {
	Stack, ID string // ID is the logical id, unique within the stack
	// Host is the function's metadata "vitrine:host", empty if it has none.
	Host string
	// Environment is the function's own variables. Those in Placeholders depend on a deployed
	// resource; their value here only names it.
	Environment  map[string]string
	Placeholders []string
	Asset        string // path of the code, a zip or a folder
	Architecture string // arm64 or x86_64
	Timeout      time.Duration
	MemoryMB     int
}

// API is an API Gateway: an HTTP API (payload format 2.0) or a REST API (1.0).
type API struct {
	Stack, ID, Name string
	REST            bool
	Stage           string
	Domains         []string // names of its own, in the order of their logical ids
	BinaryTypes     []string // REST: media types whose bodies are bytes
	Routes          []*Route
	Refusals        map[string]Refusal // REST: by the type of gateway response
}

// Route leads requests to a function.
type Route struct {
	Key    string // as AWS spells it: "GET /x", "$default", or the path of a REST resource
	Method string // or ANY
	// Path may have parts {name} and end with {name+}. That of "$default" is empty: it takes what is left.
	Path     string
	Function *Function
	Stream   bool          // the answer is sent while the function writes it
	Timeout  time.Duration // how long the gateway waits
	Mappings []Mapping     // of answers, in order
}

// Mapping changes a header of answers with a status.
type Mapping struct {
	Status int
	Action string // append, overwrite or remove
	Header string
	From   string // header of the function's answer; empty: Text
	Text   string
}

// Refusal is an answer that a REST API gives by itself.
type Refusal struct {
	Status  int // 0: the status of the type
	Headers map[string]string
	Body    string // may hold RequestID
}

// RequestID stands for the id of the request in the body of a Refusal.
const RequestID = "$context.requestId"

// Read reads the folder into which the CDK synthesised: only the stacks of its manifest, because
// templates of earlier syntheses may be left there. Its errors name stack, resource and property.
func Read(folder string) (*Deployment, error) {
	files, err := templatesOf(folder)
	if err != nil {
		return nil, err
	}
	var all []*stack
	for _, file := range files {
		s, err := open(filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	d := new(Deployment)
	for _, step := range []func(*stack, *Deployment) error{(*stack).addFunctions, (*stack).addGateways} {
		for _, s := range all {
			s.all = all
			if err := step(s, d); err != nil {
				return nil, fmt.Errorf("stack %s: %w", s.name, err)
			}
		}
	}
	return d, nil
}

// templatesOf lists the templates of a manifest.
func templatesOf(folder string) (files []string, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		return nil, fmt.Errorf("%s is no folder that the CDK made: %w", folder, err)
	}
	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ TemplateFile string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be read: %w", folder, err)
	}
	for _, id := range sorted(manifest.Artifacts) {
		switch a := manifest.Artifacts[id]; a.Type {
		case "aws:cloudformation:stack":
			files = append(files, a.Properties.TemplateFile)
		case "cdk:cloud-assembly":
			return nil, fmt.Errorf("the nested assembly %s of %s is not understood", id, folder)
		}
	}
	return files, nil
}

// stack is one template.
type stack struct {
	name, folder string
	all          []*stack // whose exports may be imported

	Parameters map[string]struct{ Default any }
	Resources  map[string]resource
	Outputs    map[string]struct {
		Value  any
		Export struct{ Name any }
	}
}

type resource struct {
	Type       string
	Properties map[string]any
	Metadata   map[string]any
	Condition  string
}

func open(file string) (*stack, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &stack{name: strings.TrimSuffix(filepath.Base(file), ".template.json"), folder: filepath.Dir(file)}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s is no template: %w", file, err)
	}
	return s, nil
}

// addFunctions reads the functions of a stack. Those of all stacks come before any gateway, which may lead to functions
// of other stacks.
func (s *stack) addFunctions(d *Deployment) error {
	functions, err := s.functions()
	if err != nil {
		return err
	}
	for _, f := range functions {
		d.Functions = append(d.Functions, f)
	}
	slices.SortFunc(d.Functions, func(a, b *Function) int { return strings.Compare(a.Stack+" "+a.ID, b.Stack+" "+b.ID) })
	return nil
}

// addGateways reads the gateways of a stack.
func (s *stack) addGateways(d *Deployment) error {
	g := &gateways{stack: s, functions: d.Functions, apis: map[string]*API{}}
	if err := g.read(); err != nil {
		return err
	}
	for _, id := range sorted(g.apis) {
		d.APIs = append(d.APIs, g.apis[id])
	}
	return nil
}
