package template

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The namespaces of REST APIs and of HTTP APIs.
const (
	v1 = "AWS::ApiGateway::"
	v2 = "AWS::ApiGatewayV2::"
)

// gateway is the gateway of a stack while it is read.
type gateway struct {
	*stack
	API
	functions []*Function // of all stacks
}

// parts are the kinds of gateway resources. Those without a function are read with others, or do not matter on one
// machine.
var parts = map[string]func(g *gateway, id string) error{
	v2 + "Api":             (*gateway).httpAPI,
	v2 + "Stage":           (*gateway).httpStage,
	v2 + "Route":           (*gateway).httpRoute,
	v2 + "Integration":     nil,
	v2 + "DomainName":      nil,
	v2 + "ApiMapping":      nil,
	v1 + "RestApi":         (*gateway).restAPI,
	v1 + "Stage":           (*gateway).restStage,
	v1 + "Method":          (*gateway).restMethod,
	v1 + "GatewayResponse": (*gateway).restRefusal,
	v1 + "Resource":        nil,
	v1 + "Deployment":      nil,
	v1 + "Account":         nil,
	v1 + "DomainName":      nil,
	v1 + "BasePathMapping": nil,
}

// addGateway reads the gateway of a stack, which has one at most.
func (s *stack) addGateway(d *Deployment) error {
	g := &gateway{stack: s, API: API{Stack: s.name}, functions: d.Functions}
	for _, id := range sorted(s.Resources) {
		kind := s.Resources[id].Type
		read, known := parts[kind]
		switch {
		case !known && (strings.HasPrefix(kind, v1) || strings.HasPrefix(kind, v2)):
			return s.wrong(id, errors.New("this kind of resource is not understood"))
		case read == nil:
			continue
		}
		if err := read(g, id); err != nil {
			return err
		}
	}
	if g.ID != "" {
		d.APIs = append(d.APIs, &g.API)
	}
	return nil
}

// begin reads the resource of the gateway itself.
func (g *gateway) begin(id string, fixed map[string]string, ignored ...string) error {
	if g.ID != "" {
		return g.wrong(id, errors.New("a second gateway in a stack is not understood"))
	}
	var p struct{ Name string }
	err := g.properties(id, &p, fixed, append(ignored, "DisableExecuteApiEndpoint")...)
	g.ID, g.Name = id, p.Name
	return err
}

// addRoute adds a route to the function that the URI of an integration names.
func (g *gateway) addRoute(id string, r Route, uri string) error {
	at := slices.IndexFunc(g.functions, func(f *Function) bool {
		return strings.Contains(uri+"/", arn(f.Stack, f.ID)+"/")
	})
	if at < 0 {
		return g.wrong(id, fmt.Errorf("%q leads to no function of these templates with a runtime of its own", uri))
	}
	r.Function = g.functions[at]
	g.Routes = append(g.Routes, &r)
	return nil
}

func (g *gateway) httpAPI(id string) error {
	return g.begin(id, map[string]string{"ProtocolType": "HTTP"}, "IpAddressType")
}

func (g *gateway) httpStage(id string) error {
	g.Stage = "$default" // any other becomes a part of paths
	return g.properties(id, &struct{}{}, map[string]string{"StageName": g.Stage}, "ApiId", "AutoDeploy",
		"AccessLogSettings", "DefaultRouteSettings")
}

// httpTimeout is how long an HTTP API waits.
const httpTimeout = 30 * time.Second

func (g *gateway) httpRoute(id string) error {
	r := Route{Path: "$default", Timeout: httpTimeout}
	var p struct{ Target string }
	err := g.properties(id, &p, map[string]string{"RouteKey": r.Path, "AuthorizationType": "NONE"}, "ApiId")
	if err != nil {
		return err
	}
	id = strings.TrimPrefix(p.Target, "integrations/")
	var i struct {
		IntegrationUri     string
		ResponseParameters map[string]struct {
			ResponseParameters []struct{ Destination, Source string }
		}
	}
	err = g.properties(id, &i, map[string]string{"IntegrationType": "AWS_PROXY", "PayloadFormatVersion": "2.0"}, "ApiId")
	if err != nil {
		return err
	}
	for _, status := range sorted(i.ResponseParameters) {
		code, err := strconv.Atoi(status)
		for _, one := range i.ResponseParameters[status].ResponseParameters {
			header, to := strings.CutPrefix(one.Destination, "overwrite:header.")
			from, of := strings.CutPrefix(one.Source, "$response.header.")
			if !to || !of || err != nil {
				return g.wrong(id, fmt.Errorf("the response parameter %+v of %s is not understood", one, status))
			}
			r.Mappings = append(r.Mappings, Mapping{Status: code, Header: header, From: from})
		}
	}
	return g.addRoute(id, r, i.IntegrationUri)
}

func (g *gateway) restAPI(id string) error {
	g.REST = true
	return g.begin(id, nil, "EndpointConfiguration")
}

func (g *gateway) restStage(id string) error {
	var p struct{ StageName string }
	err := g.properties(id, &p, nil, "RestApiId", "DeploymentId", "AccessLogSetting", "MethodSettings", "TracingEnabled")
	g.Stage = p.StageName
	return err
}

func (g *gateway) restMethod(id string) error {
	var p struct {
		ResourceId  string
		Integration struct {
			Type, IntegrationHttpMethod, Uri, ResponseTransferMode string
			TimeoutInMillis                                        float64
		}
	}
	err := g.properties(id, &p, map[string]string{"HttpMethod": "ANY", "AuthorizationType": "NONE"}, "RestApiId")
	if err != nil {
		return err
	}
	i := p.Integration
	if i.Type != "AWS_PROXY" || i.IntegrationHttpMethod != "POST" || i.ResponseTransferMode != "STREAM" ||
		!strings.HasSuffix(i.Uri, "/response-streaming-invocations") {
		return g.wrong(id, fmt.Errorf("only an integration AWS_PROXY with POST that streams is understood, not %+v", i))
	}
	r := Route{Timeout: time.Duration(i.TimeoutInMillis) * time.Millisecond}
	if r.Path, err = g.restPath(p.ResourceId); err != nil {
		return err
	}
	return g.addRoute(id, r, i.Uri)
}

// restPath returns the path of a resource, by following its parents.
func (g *gateway) restPath(id string) (string, error) {
	if strings.HasSuffix(id, ".RootResourceId") {
		return "/", nil
	}
	var p struct{ ParentId, PathPart string }
	if err := g.properties(id, &p, nil, "RestApiId"); err != nil {
		return "", err
	}
	if strings.HasPrefix(p.PathPart, "{") && p.PathPart != "{proxy+}" {
		return "", g.wrong(id, fmt.Errorf("PathPart %q is not understood", p.PathPart))
	}
	parent, err := g.restPath(p.ParentId)
	return strings.TrimSuffix(parent, "/") + "/" + p.PathPart, err
}

func (g *gateway) restRefusal(id string) error {
	var p struct {
		ResponseType                          string
		StatusCode                            int `json:",string"`
		ResponseParameters, ResponseTemplates map[string]string
	}
	if err := g.properties(id, &p, nil, "RestApiId"); err != nil {
		return err
	}
	refusal := Refusal{Status: p.StatusCode, Headers: map[string]string{}, Body: p.ResponseTemplates["application/json"]}
	for _, name := range sorted(p.ResponseParameters) {
		header, is := strings.CutPrefix(name, "gatewayresponse.header.")
		value := p.ResponseParameters[name]
		if !is || len(value) < 2 || value[0] != '\'' || value[len(value)-1] != '\'' {
			return g.wrong(id, fmt.Errorf("the response parameter %q: %q is not understood", name, value))
		}
		refusal.Headers[header] = value[1 : len(value)-1]
	}
	if g.Refusals == nil {
		g.Refusals = map[string]Refusal{}
	}
	g.Refusals[p.ResponseType] = refusal
	return nil
}
