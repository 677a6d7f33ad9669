package template

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const functionType = "AWS::Lambda::Function"

// Defaults of AWS for what a template leaves out.
const (
	defaultTimeout = 3 * time.Second
	defaultMemory  = 128 // MB
)

// functionProperties has fields of type any for what does not matter on one machine.
type functionProperties struct {
	Runtime, Handler                                                             string
	Architectures                                                                []string
	Environment                                                                  struct{ Variables map[string]string }
	Timeout                                                                      float64
	MemorySize                                                                   int
	Code, Role, Description, FunctionName, LoggingConfig, TracingConfig, Tags    any
	ReservedConcurrentExecutions, RecursiveLoop, DeadLetterConfig, RuntimePolicy any
}

// functions reads the functions of a stack by logical id. It skips those of other runtimes, which
// the CDK adds for its own purposes.
func (s *stack) functions() (map[string]*Function, error) {
	all := map[string]*Function{}
	for _, id := range s.ofType(functionType) {
		runtime, _ := s.Resources[id].Properties["Runtime"].(string)
		if !strings.HasPrefix(runtime, "provided.") {
			continue
		}
		f, err := s.function(id)
		if err != nil {
			return nil, err
		}
		all[id] = f
	}
	return all, nil
}

func (s *stack) function(id string) (*Function, error) {
	p := functionProperties{
		Timeout:       defaultTimeout.Seconds(),
		MemorySize:    defaultMemory,
		Architectures: []string{"x86_64"},
	}
	if err := s.properties(id, &p); err != nil {
		return nil, err
	}
	if len(p.Architectures) != 1 {
		return nil, s.wrong(id, fmt.Errorf("it needs one architecture, not %q", p.Architectures))
	}
	metadata := s.Resources[id].Metadata
	asset, _ := metadata["aws:asset:path"].(string)
	if asset == "" {
		return nil, s.wrong(id, errors.New("the metadata aws:asset:path is missing: synthesise with assetMetadata"))
	}
	host, _ := metadata["vitrine:host"].(string)
	return &Function{
		Stack:        s.name,
		ID:           id,
		Host:         host,
		Environment:  p.Environment.Variables,
		Placeholders: s.placeholders(id),
		Asset:        filepath.Join(s.folder, asset),
		Architecture: p.Architectures[0],
		Timeout:      time.Duration(p.Timeout * float64(time.Second)),
		MemoryMB:     p.MemorySize,
	}, nil
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

var functionARN = regexp.MustCompile(`arn:aws:lambda:[a-z0-9-]*:[0-9]*:function:([A-Za-z0-9-]+)`)

// functionAt finds the function that an integration's URI names.
func (g *gateways) functionAt(uri string) (*Function, error) {
	if found := functionARN.FindStringSubmatch(uri); found != nil {
		for _, f := range g.functions {
			if found[1] == f.Stack+"-"+f.ID {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("%q leads to no function of these templates with a runtime of its own", uri)
}
