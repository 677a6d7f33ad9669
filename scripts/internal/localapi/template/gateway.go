package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// gateways collects the APIs of a stack.
type gateways struct {
	stack     *stack
	functions []*Function // of all stacks
	apis      map[string]*API
}

// Default time limits of gateways.
const (
	httpTimeout = 30 * time.Second
	restTimeout = 29 * time.Second
)

func (g *gateways) read() error {
	if err := g.refuseUnknown(); err != nil {
		return err
	}
	for _, step := range []struct {
		kind string
		read func(id string) error
	}{
		{v2 + "Api", g.httpAPI}, {v2 + "Stage", g.httpStage}, {v2 + "Route", g.httpRoute}, {v2 + "ApiMapping", g.httpDomain},
		{v1 + "RestApi", g.restAPI}, {v1 + "Stage", g.restStage}, {v1 + "Method", g.restMethod},
		{v1 + "BasePathMapping", g.restDomain},
		{v1 + "GatewayResponse", g.restRefusal},
	} {
		for _, id := range g.stack.ofType(step.kind) {
			if err := step.read(id); err != nil {
				return err
			}
		}
	}
	for _, id := range sorted(g.apis) {
		if g.apis[id].Stage == "" {
			return g.stack.wrong(id, errors.New("it has no stage"))
		}
	}
	return nil
}

// understood are the kinds of gateway resources that are read, or do not matter on one machine.
var understood = []string{
	v2 + "Api", v2 + "Stage", v2 + "Route", v2 + "Integration", v2 + "DomainName", v2 + "ApiMapping", v2 + "Deployment",
	v1 + "RestApi", v1 + "Stage", v1 + "Resource", v1 + "Method", v1 + "DomainName", v1 + "BasePathMapping",
	v1 + "GatewayResponse",
	v1 + "Deployment", v1 + "Account",
}

func (g *gateways) refuseUnknown() error {
	for _, id := range sorted(g.stack.Resources) {
		kind := g.stack.Resources[id].Type
		if (strings.HasPrefix(kind, v1) || strings.HasPrefix(kind, v2)) && !slices.Contains(understood, kind) {
			return g.stack.wrong(id, errors.New("this kind of resource is not understood"))
		}
	}
	return nil
}

// api finds the gateway that a resource belongs to.
func (g *gateways) api(of, id string) (*API, error) {
	if a := g.apis[id]; a != nil {
		return a, nil
	}
	return nil, g.stack.wrong(of, fmt.Errorf("%q is no gateway of this template", id))
}

// part reads the properties of a part of a gateway, which names it.
func (g *gateways) part(id string, properties any, gateway *string) (*API, error) {
	if err := g.stack.properties(id, properties); err != nil {
		return nil, err
	}
	return g.api(id, *gateway)
}

// domain gives a gateway a custom domain. named is the resource of the name, or the name itself.
func (g *gateways) domain(id, api, named, path string) error {
	a, err := g.api(id, api)
	if err != nil {
		return err
	}
	if path != "" {
		return g.stack.wrong(id, fmt.Errorf("the path %q below a domain is not understood", path))
	}
	if made, ok := g.stack.Resources[named]; ok {
		named, err = (&resolver{stack: g.stack}).text(made.Properties["DomainName"])
	}
	a.Domains = append(a.Domains, named)
	return err
}
