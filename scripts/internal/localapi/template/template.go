// Package template reads from synthesised CloudFormation templates what can run on one machine: functions, and the
// gateways in front of them. It understands what infra makes, and refuses what would change requests in another way.
package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	Timeout      time.Duration
	MemoryMB     int
}

// API is an API Gateway: an HTTP API (payload format 2.0), or a REST API (1.0), whose answers are streamed.
type API struct {
	Stack, ID, Name string
	REST            bool
	Stage           string
	Routes          []*Route
	Refusals        map[string]Refusal // REST: by the type of gateway response
}

// Route leads requests of all methods to a function.
type Route struct {
	// Path is that of a REST resource, in which "{proxy+}" may come last, or "$default", which takes all.
	Path     string
	Function *Function
	Timeout  time.Duration // how long the gateway waits
	Mappings []Mapping     // of answers, in order
}

// Mapping gives a header of answers with a status the value that the function gave another one.
type Mapping struct {
	Status       int
	Header, From string
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
	all, err := stacksOf(folder)
	if err != nil {
		return nil, err
	}
	d := new(Deployment)
	// Gateways may lead to functions of any stack.
	for _, step := range []func(*stack, *Deployment) error{(*stack).addFunctions, (*stack).addGateway} {
		for _, s := range all {
			s.all = all
			if err := step(s, d); err != nil {
				return nil, fmt.Errorf("stack %s: %w", s.name, err)
			}
		}
	}
	return d, nil
}

// stacksOf reads the templates of a manifest.
func stacksOf(folder string) (all []*stack, err error) {
	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ TemplateFile string }
		}
	}
	if err := readJSON(filepath.Join(folder, "manifest.json"), &manifest); err != nil {
		return nil, fmt.Errorf("%s is no folder that the CDK made: %w", folder, err)
	}
	for _, id := range sorted(manifest.Artifacts) {
		a := manifest.Artifacts[id]
		if a.Type != "aws:cloudformation:stack" {
			continue
		}
		s := &stack{name: strings.TrimSuffix(a.Properties.TemplateFile, ".template.json")}
		if err := readJSON(filepath.Join(folder, a.Properties.TemplateFile), s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return nil
}

// addFunctions reads the functions of a stack. It skips those of other runtimes, which the CDK adds for its own
// purposes.
func (s *stack) addFunctions(d *Deployment) error {
	for _, id := range s.ofType(functionType) {
		runtime, _ := s.Resources[id].Properties["Runtime"].(string)
		if !strings.HasPrefix(runtime, "provided.") {
			continue
		}
		var p struct {
			Environment struct{ Variables map[string]string }
			Timeout     float64
			MemorySize  int
		}
		err := s.properties(id, &p, nil, "Architectures", "Code", "Description", "Handler", "LoggingConfig",
			"ReservedConcurrentExecutions", "Role", "Runtime", "TracingConfig")
		if err != nil {
			return err
		}
		host, _ := s.Resources[id].Metadata["vitrine:host"].(string)
		d.Functions = append(d.Functions, &Function{
			Stack:        s.name,
			ID:           id,
			Host:         host,
			Environment:  p.Environment.Variables,
			Placeholders: s.placeholders(id),
			Timeout:      time.Duration(p.Timeout * float64(time.Second)),
			MemoryMB:     p.MemorySize,
		})
	}
	return nil
}

// placeholders returns the variables whose values only a deployment could provide.
func (s *stack) placeholders(id string) (names []string) {
	environment, _ := s.Resources[id].Properties["Environment"].(map[string]any)
	variables, _ := environment["Variables"].(map[string]any)
	for _, name := range sorted(variables) {
		r := &resolver{stack: s}
		if _, err := r.value(variables[name]); err == nil && r.placed {
			names = append(names, name)
		}
	}
	return names
}
