package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/adapter/web"
)

// httpFront gives a host an HTTP API, under its custom domain or, without one, under the address that AWS assigns.
func httpFront(f *function) {
	named, own := f.Domains[f.name]
	api := f.httpAPI(own)
	if !own {
		output(f.stack, "Url", api.AttrApiEndpoint())
		return
	}
	f.httpDomain(api, named)
	output(f.stack, "Url", jsii.String("https://"+named.Name))
}

// httpAPI makes a gateway whose only route leads to the function. hidden disables the address that AWS assigns. The
// gateway refuses by itself when its throttle is exceeded or the function does not answer. Those refusals have AWS's
// body {"message":…} and no Retry-After, because HTTP APIs do not allow changing that.
func (f *function) httpAPI(hidden bool) awsapigatewayv2.CfnApi {
	api := awsapigatewayv2.NewCfnApi(f.stack, jsii.String("Api"), &awsapigatewayv2.CfnApiProps{
		Name:                      f.stack.StackName(),
		ProtocolType:              jsii.String("HTTP"),
		DisableExecuteApiEndpoint: jsii.Bool(hidden),
		IpAddressType:             jsii.String("dualstack"),
	})
	integration := awsapigatewayv2.NewCfnIntegration(f.stack, jsii.String("Integration"),
		&awsapigatewayv2.CfnIntegrationProps{
			ApiId:                api.Ref(),
			IntegrationType:      jsii.String("AWS_PROXY"),
			IntegrationUri:       f.lambda.FunctionArn(),
			PayloadFormatVersion: jsii.String("2.0"),
			ResponseParameters:   f.challenge(),
		})
	route := awsapigatewayv2.NewCfnRoute(f.stack, jsii.String("Route"), &awsapigatewayv2.CfnRouteProps{
		ApiId:             api.Ref(),
		RouteKey:          jsii.String("$default"),
		Target:            jsii.String("integrations/" + *integration.Ref()),
		AuthorizationType: jsii.String("NONE"),
	})
	log := f.newLog("AccessLog", "/aws/vendedlogs/apigateway")
	stage := awsapigatewayv2.NewCfnStage(f.stack, jsii.String("Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId:      api.Ref(),
		StageName:  jsii.String("$default"),
		AutoDeploy: jsii.Bool(true),
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: log.LogGroupArn(), Format: jsii.String(accessLog("$context.integrationErrorMessage")),
		},
		DefaultRouteSettings: f.routeSettings(),
	})
	f.lambda.AddPermission(jsii.String("Gateway"), &awslambda.Permission{
		Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
		SourceArn: jsii.String(fmt.Sprintf("arn:%s:execute-api:%s:%s:%s/*", *f.stack.Partition(), *f.stack.Region(),
			*f.stack.Account(), *api.Ref())),
	})
	f.reportErrorLines()
	suppress(route, rule{"AwsSolutions-APIG4", whoAuthorizes})
	stage.Node().AddDependency(route)
	return api
}

// challenge restores the header WWW-Authenticate. API Gateway renames it, so lambdahttp sends the challenge in a header
// of the service's own. Only hosts that authenticate with a header send challenges. The MCP host also sends one with
// 403, to a client whose token lacks a scope.
func (f *function) challenge() any {
	statuses := []string{"401"}
	switch f.name {
	case "app":
		return nil
	case "mcp":
		statuses = append(statuses, "403")
	}
	mapped := map[string]any{}
	for _, status := range statuses {
		mapped[status] = map[string]any{"ResponseParameters": []any{map[string]any{
			"Destination": "overwrite:header.www-authenticate",
			"Source":      "$response.header." + strings.ToLower(lambdahttp.Challenge),
		}}}
	}
	return mapped
}

// routeSettings returns the throttle of an HTTP API; nil if the host has none.
func (f *function) routeSettings() any {
	t, limited := f.Throttles[f.name]
	if !limited {
		return nil
	}
	return &awsapigatewayv2.CfnStage_RouteSettingsProperty{
		ThrottlingRateLimit: number(t.Rate), ThrottlingBurstLimit: number(t.Burst),
	}
}

// accessLog returns the format of a gateway's log. It omits the path, because paths carry signed tokens. The function's
// own line names the route, and has the same requestId and gateway_request_id.
func accessLog(failure string) string {
	line, _ := json.Marshal(map[string]string{
		"requestId":               "$context.integration.requestId",
		web.GatewayRequestIDField: "$context.requestId",
		"time":                    "$context.requestTimeEpoch",
		"method":                  "$context.httpMethod",
		"status":                  "$context.status",
		"ms":                      "$context.responseLatency",
		"bytes":                   "$context.responseLength",
		"error":                   failure,
	})
	return string(line)
}
