// Package localapi runs the functions of synthesised templates behind their gateways, on this machine.
package localapi

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"vitrine/scripts/internal/localapi/gateway"
	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
	"vitrine/shared/platform/env"
)

// Config says what to run.
type Config struct {
	Deployment *template.Deployment
	// Program is the bootstrap of a host's function, for this machine.
	Program map[string]string
	// Settings replace the values of the variables that a function declares; undeclared variables
	// are not set, as in AWS.
	Settings map[string]string
	// Given is what Lambda sets for every function: region, credentials, and where its files are.
	Given map[string]string
	// Processes is how many invocations of a function run at once; Waiting is how many more may wait.
	Processes, Waiting int
	// Output receives what the functions print, and may be nil; Log receives what the gateways log.
	Output io.Writer
	Log    *slog.Logger
}

// Hosts are gateways with the functions behind them.
type Hosts struct {
	handlers  map[string]http.Handler
	gateways  map[string]gateway.Config
	functions map[*template.Function]*runtime.Function
}

// Open puts the functions behind their gateways. No process runs before the first request.
func Open(c Config) (*Hosts, error) {
	h := &Hosts{
		handlers:  map[string]http.Handler{},
		gateways:  map[string]gateway.Config{},
		functions: map[*template.Function]*runtime.Function{},
	}
	for _, a := range c.Deployment.APIs {
		for _, r := range a.Routes {
			if err := h.open(c, r.Function); err != nil {
				return nil, err
			}
		}
		host := hostOf(a)
		if host == "" || h.handlers[host] != nil {
			return nil, fmt.Errorf("gateway %s of stack %s has to lead to a host of its own, and leads to %q",
				a.ID, a.Stack, host)
		}
		h.gateways[host] = gateway.Config{
			API: a, Log: c.Log, Function: func(f *template.Function) gateway.Function { return h.functions[f] },
		}
		h.handlers[host] = gateway.New(h.gateways[host])
	}
	return h, nil
}

// hostOf returns the host whose function a gateway leads to: that of the gateway's own stack. Functions of other stacks
// are behind paths of their own.
func hostOf(a *template.API) string {
	at := slices.IndexFunc(a.Routes, func(r *template.Route) bool { return r.Function.Stack == a.Stack })
	if at < 0 {
		return ""
	}
	return a.Routes[at].Function.Host
}

func (h *Hosts) open(c Config, f *template.Function) error {
	if h.functions[f] != nil {
		return nil
	}
	program, known := c.Program[f.Host]
	if !known {
		return fmt.Errorf("function %s of stack %s is of host %q, which has no program", f.ID, f.Stack, f.Host)
	}
	environment := maps.Clone(c.Given)
	for name, value := range f.Environment {
		local, given := c.Settings[name]
		switch {
		case given:
			value = local
		case slices.Contains(f.Placeholders, name):
			return fmt.Errorf(
				"function %s of stack %s is told %s, which only a deployment knows, and there is no local value for it",
				f.ID, f.Stack, name)
		}
		environment[name] = value
	}
	h.functions[f] = runtime.New(runtime.Config{
		Name:        f.Host,
		Program:     program,
		Environment: environment,
		Timeout:     f.Timeout,
		MemoryMB:    f.MemoryMB,
		Processes:   c.Processes,
		Waiting:     c.Waiting,
		Log:         c.Output,
	})
	return nil
}

// Handler returns the gateway of a host.
func (h *Hosts) Handler(host string) (http.Handler, error) {
	handler := h.handlers[host]
	if handler == nil {
		return nil, fmt.Errorf("no template has a gateway for host %s", host)
	}
	return handler, nil
}

// Own returns the gateway of the own origins of artifacts, in a deployment that has a wildcard name for them: that of a
// host with the path of pages below another one, because all other paths are those of files.
func (h *Hosts) Own(host string) (http.Handler, error) {
	c, known := h.gateways[host]
	if !known {
		return nil, fmt.Errorf("no template has a gateway for host %s", host)
	}
	own := *c.API
	own.Routes = nil
	for _, r := range c.API.Routes {
		route := *r
		if below, pages := strings.CutPrefix(r.Path+"/", env.PagesPath); pages {
			route.Path = strings.TrimSuffix(env.OwnPagesPath+below, "/")
		}
		own.Routes = append(own.Routes, &route)
	}
	c.API = &own
	return gateway.New(c), nil
}

// Close ends all functions at once, even while they run.
func (h *Hosts) Close() {
	for _, f := range h.functions {
		f.Close()
	}
}
