package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
	"vitrine/shared/platform/fault"
)

// streamingFront gives the content host a REST API, because only that kind of gateway streams, and files above 6 MB
// need that. Neither gateway nor distribution compresses, because the functions do it themselves, where each form has an
// entity tag of its own and ranges refer to the stored bytes.
func streamingFront(f *function) {
	named, own := f.Domains[f.name]
	api := f.restAPI(own)
	if own {
		f.restDomain(api, named)
		output(f.stack, "Url", jsii.String("https://"+named.Name))
		return
	}
	// The address that AWS assigns has the stage in its path. An origin has no path, so a distribution hides the stage.
	output(f.stack, "Url", jsii.String("https://"+*f.contentEdge(api).DistributionDomainName()))
}

func (f *function) restAPI(hidden bool) awsapigateway.RestApi {
	log := f.newLog("AccessLog", "/aws/vendedlogs/apigateway")
	props := &awsapigateway.RestApiProps{
		RestApiName: f.stack.StackName(),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{
			Types:         &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
			IpAddressType: awsapigateway.IpAddressType_DUAL_STACK,
		},
		DisableExecuteApiEndpoint: jsii.Bool(hidden),
		CloudWatchRole:            jsii.Bool(f.LogRole),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String("live"),
			TracingEnabled:       jsii.Bool(false),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(log),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog("$context.integration.error"))),
		},
	}
	if t, limited := f.Throttles[f.name]; limited {
		props.DeployOptions.ThrottlingRateLimit, props.DeployOptions.ThrottlingBurstLimit = number(t.Rate), number(t.Burst)
	}
	if f.LogRole { // the role serves the whole account, including other gateways, so it outlives the stack
		props.CloudWatchRoleRemovalPolicy = awscdk.RemovalPolicy_RETAIN
	}
	api := awsapigateway.NewRestApi(f.stack, jsii.String("Api"), props)
	own, pages := f.stream(), f.pages.stream()
	lead(api.Root(), own)
	lead(api.Root().AddResource(jsii.String("{proxy+}"), nil), own)
	below := api.Root().AddResource(jsii.String(strings.Trim(env.PagesPath, "/")), nil)
	lead(below.AddResource(jsii.String("{proxy+}"), nil), pages)
	f.pages.reportErrorLines()
	f.gatewayRefusals(api)
	f.reportErrorLines()
	f.suppressRest(api)
	return api
}

// stream returns the integration that passes the answer on while the function writes it.
func (f *function) stream() awsapigateway.LambdaIntegration {
	return awsapigateway.NewLambdaIntegration(f.lambda, &awsapigateway.LambdaIntegrationOptions{
		ResponseTransferMode: awsapigateway.ResponseTransferMode_STREAM,
		Timeout:              seconds(f.timeout),
		AllowTestInvoke:      jsii.Bool(false),
	})
}

// lead sends every request for a resource to a function.
func lead(r awsapigateway.IResource, to awsapigateway.LambdaIntegration) {
	method := r.AddMethod(jsii.String("ANY"), to,
		&awsapigateway.MethodOptions{AuthorizationType: awsapigateway.AuthorizationType_NONE})
	suppress(method, rule{"AwsSolutions-APIG4", whoAuthorizes}, rule{"AwsSolutions-COG4", whoAuthorizes})
}

// refusal is an answer that the gateway gives without the function.
type refusal struct {
	id      string
	kind    awsapigateway.ResponseType
	status  string // empty: the status that AWS chooses
	code    fault.Code
	message string
	wait    string // seconds; empty: none
}

// retryAfter is the Retry-After in seconds when the throttle refuses. The throttle admits more requests every second,
// so a short wait is enough.
const retryAfter = "5"

// gatewayRefusals gives the gateway's own refusals the error envelope of the service.
func (f *function) gatewayRefusals(api awsapigateway.RestApi) {
	refuse := func(r refusal) {
		headers := map[string]*string{
			"Cache-Control":          jsii.String("'no-store'"),
			"X-Content-Type-Options": jsii.String("'nosniff'"),
			"X-Robots-Tag":           jsii.String("'noindex, nofollow'"),
		}
		if r.wait != "" {
			headers["Retry-After"] = jsii.String("'" + r.wait + "'")
		}
		options := &awsapigateway.GatewayResponseOptions{
			Type: r.kind, ResponseHeaders: &headers, Templates: &map[string]*string{"application/json": jsii.String(
				`{"error":{"code":"` + string(r.code) + `","message":"` + r.message + `","request_id":"$context.requestId"}}`)},
		}
		if r.status != "" {
			options.StatusCode = jsii.String(r.status)
		}
		api.AddGatewayResponse(jsii.String(r.id), options)
	}
	refuse(refusal{
		id:      "Refused",
		kind:    awsapigateway.ResponseType_DEFAULT_4XX(),
		code:    fault.InvalidRequest,
		message: "the gateway does not pass this request on",
	})
	refuse(refusal{
		id:      "Throttled",
		kind:    awsapigateway.ResponseType_THROTTLED(),
		status:  "429",
		code:    fault.RateLimitedArtifact,
		message: "the content host has more requests than it takes; try again in " + retryAfter + " seconds",
		wait:    retryAfter,
	})
	refuse(refusal{
		id:      "Failed",
		kind:    awsapigateway.ResponseType_DEFAULT_5XX(),
		code:    fault.Internal,
		message: "the content host did not answer; try again",
	})
}
