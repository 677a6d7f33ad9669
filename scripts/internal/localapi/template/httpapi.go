package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The namespace of HTTP APIs.
const v2 = "AWS::ApiGatewayV2::"

func (g *gateways) httpAPI(id string) error {
	var p struct {
		Name, ProtocolType                                          string
		DisableExecuteApiEndpoint, Description, IpAddressType, Tags any
	}
	if err := g.stack.properties(id, &p); err != nil {
		return err
	}
	if p.ProtocolType != "HTTP" {
		return g.stack.wrong(id, fmt.Errorf("ProtocolType %q is not understood", p.ProtocolType))
	}
	g.apis[id] = &API{Stack: g.stack.name, ID: id, Name: p.Name}
	return nil
}

func (g *gateways) httpStage(id string) error {
	var p struct {
		ApiId, StageName                                          string
		AutoDeploy, AccessLogSettings, DefaultRouteSettings, Tags any
		DeploymentId, Description, RouteSettings                  any
	}
	a, err := g.part(id, &p, &p.ApiId)
	if err != nil {
		return err
	}
	if p.StageName != "$default" {
		return g.stack.wrong(id, fmt.Errorf("only the stage $default is understood, not %q, which becomes a part of paths",
			p.StageName))
	}
	a.Stage = p.StageName
	return nil
}

func (g *gateways) httpRoute(id string) error {
	var p struct {
		ApiId, RouteKey, Target, AuthorizationType string
		ApiKeyRequired, OperationName              any
	}
	a, err := g.part(id, &p, &p.ApiId)
	if err != nil {
		return err
	}
	if p.AuthorizationType != "" && p.AuthorizationType != "NONE" {
		return g.stack.wrong(id, fmt.Errorf("AuthorizationType %q is not understood", p.AuthorizationType))
	}
	r, err := g.httpIntegration(strings.TrimPrefix(p.Target, "integrations/"))
	if err != nil {
		return err
	}
	if r.Key, r.Method = p.RouteKey, "ANY"; p.RouteKey != "$default" {
		var both bool
		if r.Method, r.Path, both = strings.Cut(p.RouteKey, " "); !both || !strings.HasPrefix(r.Path, "/") {
			return g.stack.wrong(id, fmt.Errorf("RouteKey %q is not understood", p.RouteKey))
		}
	}
	a.Routes = append(a.Routes, r)
	return nil
}

// httpIntegration is a route without its key.
func (g *gateways) httpIntegration(id string) (*Route, error) {
	if g.stack.Resources[id].Type != v2+"Integration" {
		return nil, fmt.Errorf("the target %q of a route is no integration of this template", id)
	}
	p := struct {
		IntegrationType, IntegrationUri, PayloadFormatVersion string
		TimeoutInMillis                                       float64
		ResponseParameters                                    map[string]parameters
		ApiId, IntegrationMethod, ConnectionType, Description any
	}{TimeoutInMillis: float64(httpTimeout.Milliseconds())}
	if err := g.stack.properties(id, &p); err != nil {
		return nil, err
	}
	if p.IntegrationType != "AWS_PROXY" || p.PayloadFormatVersion != "2.0" {
		return nil, g.stack.wrong(id, fmt.Errorf("only AWS_PROXY with payload format 2.0 is understood, not %q with %q",
			p.IntegrationType, p.PayloadFormatVersion))
	}
	f, err := g.functionAt(p.IntegrationUri)
	if err != nil {
		return nil, g.stack.wrong(id, err)
	}
	r := &Route{Function: f, Timeout: time.Duration(p.TimeoutInMillis) * time.Millisecond}
	for _, status := range sorted(p.ResponseParameters) {
		m, err := p.ResponseParameters[status].mappings(status)
		if err != nil {
			return nil, g.stack.wrong(id, err)
		}
		r.Mappings = append(r.Mappings, m...)
	}
	return r, nil
}

// parameters are the mappings of one status.
type parameters struct {
	ResponseParameters []struct{ Destination, Source string }
}

func (p parameters) mappings(status string) (all []Mapping, err error) {
	code, err := strconv.Atoi(status)
	if err != nil {
		return nil, fmt.Errorf("ResponseParameters: %q is no status", status)
	}
	for _, one := range p.ResponseParameters {
		m := Mapping{Status: code}
		var where string
		m.Action, where, _ = strings.Cut(one.Destination, ":")
		m.Header = strings.TrimPrefix(where, "header.")
		known := slices.Contains([]string{"append", "overwrite", "remove"}, m.Action)
		if !known || m.Header == where || reserved(m.Header) {
			return nil, fmt.Errorf("the destination %q of a response parameter is not understood", one.Destination)
		}
		var fromHeader bool
		if m.From, fromHeader = strings.CutPrefix(one.Source, "$response.header."); !fromHeader {
			m.From, m.Text = "", one.Source
		}
		if strings.Contains(m.Text, "$") {
			return nil, fmt.Errorf("the source %q of a response parameter is not understood", one.Source)
		}
		all = append(all, m)
	}
	return all, nil
}

// reserved reports whether API Gateway forbids mapping a header.
func reserved(header string) bool {
	name := strings.ToLower(header)
	return slices.ContainsFunc([]string{"access-control-", "apigw-", "x-amz-", "x-amzn-"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	}) || slices.Contains([]string{
		"authorization", "connection", "content-encoding", "content-length", "content-location", "forwarded", "keep-alive",
		"origin",
		"proxy-authenticate", "proxy-authorization", "te", "trailers", "transfer-encoding", "upgrade", "x-forwarded-for",
		"x-forwarded-host", "x-forwarded-proto", "via",
	}, name)
}

func (g *gateways) httpDomain(id string) error {
	var p struct{ ApiId, DomainName, ApiMappingKey, Stage string }
	if err := g.stack.properties(id, &p); err != nil {
		return err
	}
	return g.domain(id, p.ApiId, p.DomainName, p.ApiMappingKey)
}
