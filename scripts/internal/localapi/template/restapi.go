package template

import (
	"fmt"
	"strings"
	"time"
)

// The namespace of REST APIs.
const v1 = "AWS::ApiGateway::"

func (g *gateways) restAPI(id string) error {
	var p struct {
		Name                                                                  string
		BinaryMediaTypes                                                      []string
		DisableExecuteApiEndpoint, EndpointConfiguration, Description, Policy any
		Tags, ApiKeySourceType, SecurityPolicy, EndpointAccessMode            any
	}
	if err := g.stack.properties(id, &p); err != nil {
		return err
	}
	g.apis[id] = &API{
		Stack:       g.stack.name,
		ID:          id,
		Name:        p.Name,
		REST:        true,
		BinaryTypes: p.BinaryMediaTypes,
		Refusals:    map[string]Refusal{},
	}
	return nil
}

func (g *gateways) restStage(id string) error {
	var p struct {
		RestApiId, StageName                                 string
		DeploymentId, AccessLogSetting, MethodSettings, Tags any
		TracingEnabled, Description                          any
	}
	a, err := g.part(id, &p, &p.RestApiId)
	if err != nil {
		return err
	}
	a.Stage = p.StageName
	return nil
}

type restIntegration struct {
	Type, IntegrationHttpMethod, Uri, ResponseTransferMode string
	TimeoutInMillis                                        float64
}

func (g *gateways) restMethod(id string) error {
	var p struct {
		RestApiId, ResourceId, HttpMethod, AuthorizationType string
		Integration                                          restIntegration
		ApiKeyRequired, MethodResponses, OperationName       any
	}
	p.Integration.TimeoutInMillis = float64(restTimeout.Milliseconds())
	a, err := g.part(id, &p, &p.RestApiId)
	if err != nil {
		return err
	}
	if p.AuthorizationType != "" && p.AuthorizationType != "NONE" {
		return g.stack.wrong(id, fmt.Errorf("AuthorizationType %q is not understood", p.AuthorizationType))
	}
	r, err := g.restRoute(p.Integration)
	if err != nil {
		return g.stack.wrong(id, err)
	}
	r.Method = p.HttpMethod
	if r.Path, err = g.restPath(p.ResourceId); err != nil {
		return err
	}
	r.Key = r.Path
	a.Routes = append(a.Routes, r)
	return nil
}

// restRoute is a route without method and path.
func (g *gateways) restRoute(i restIntegration) (*Route, error) {
	stream := i.ResponseTransferMode == "STREAM"
	switch {
	case i.Type != "AWS_PROXY" || i.IntegrationHttpMethod != "POST":
		return nil, fmt.Errorf("only an integration AWS_PROXY with POST is understood, not %q with %q", i.Type,
			i.IntegrationHttpMethod)
	case i.ResponseTransferMode != "" && i.ResponseTransferMode != "BUFFERED" && !stream:
		return nil, fmt.Errorf("ResponseTransferMode %q is not understood", i.ResponseTransferMode)
	case stream != strings.HasSuffix(i.Uri, "/response-streaming-invocations"):
		return nil, fmt.Errorf("ResponseTransferMode %q does not go with the URI %q", i.ResponseTransferMode, i.Uri)
	}
	f, err := g.functionAt(i.Uri)
	return &Route{Function: f, Stream: stream, Timeout: time.Duration(i.TimeoutInMillis) * time.Millisecond}, err
}

// restPath returns the path of a resource, by following its parents.
func (g *gateways) restPath(id string) (string, error) {
	path := ""
	for g.stack.Resources[id].Type == v1+"Resource" {
		var p struct{ RestApiId, ParentId, PathPart string }
		if err := g.stack.properties(id, &p); err != nil {
			return "", err
		}
		path, id = "/"+p.PathPart+path, p.ParentId
	}
	if api, root := strings.CutSuffix(id, ".RootResourceId"); !root || g.apis[api] == nil {
		return "", fmt.Errorf("%q is no resource of a gateway of this template", id)
	}
	if path == "" {
		return "/", nil
	}
	return path, nil
}

func (g *gateways) restDomain(id string) error {
	var p struct{ RestApiId, DomainName, BasePath, Stage string }
	if err := g.stack.properties(id, &p); err != nil {
		return err
	}
	return g.domain(id, p.RestApiId, p.DomainName, p.BasePath)
}

func (g *gateways) restRefusal(id string) error {
	var p struct {
		RestApiId, ResponseType               string
		StatusCode                            int `json:",string"`
		ResponseParameters, ResponseTemplates map[string]string
	}
	a, err := g.part(id, &p, &p.RestApiId)
	if err != nil {
		return err
	}
	refusal := Refusal{Status: p.StatusCode, Headers: map[string]string{}, Body: p.ResponseTemplates["application/json"]}
	for _, name := range sorted(p.ResponseParameters) {
		header, is := strings.CutPrefix(name, "gatewayresponse.header.")
		value := p.ResponseParameters[name]
		if !is || len(value) < 2 || value[0] != '\'' || value[len(value)-1] != '\'' {
			return g.stack.wrong(id, fmt.Errorf("the response parameter %q: %q is not understood", name, value))
		}
		refusal.Headers[header] = value[1 : len(value)-1]
	}
	if strings.Contains(strings.ReplaceAll(refusal.Body, RequestID, ""), "$") {
		return g.stack.wrong(id, fmt.Errorf("only the variable %s is understood in its template", RequestID))
	}
	a.Refusals[p.ResponseType] = refusal
	return nil
}
