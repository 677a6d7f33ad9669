package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
	"vitrine/shared/platform/fault"
)

// streamingFront gives the content host a REST API, because only that kind of gateway streams, and files above 6 MB
// need that. Neither gateway nor distribution compresses, because the functions do it themselves, where each form has an
// entity tag of its own and ranges refer to the stored bytes.
func streamingFront(f *function) {
	named, own := f.Domains[f.name]
	log := f.newLog("AccessLog", "/aws/vendedlogs/apigateway")
	api := f.restAPI(restGateway{
		id:        "Api",
		name:      *f.stack.StackName(),
		pages:     env.PagesPath,
		hidden:    own,
		log:       log,
		writesLog: f.LogRole,
	})
	f.pages.reportErrorLines()
	f.reportErrorLines()
	if own {
		d := f.restDomain("", api, named)
		f.record("Record", named, d.DomainNameAliasDomainName(), awsroute53targets.NewApiGatewayDomain(d))
		output(f.stack, "Url", jsii.String("https://"+named.Name))
		f.labelFront(api, log)
		return
	}
	// The address that AWS assigns has the stage in its path. An origin has no path, so a distribution hides the stage.
	output(f.stack, "Url", jsii.String("https://"+*f.contentEdge(api).DistributionDomainName()))
}

// restGateway describes one of the content host's REST APIs.
type restGateway struct {
	id, name  string // of the construct, and of the API
	pages     string // the path below which the function of the pages answers
	hidden    bool   // the address that AWS assigns is closed
	log       awslogs.LogGroup
	writesLog bool // makes the role by which API Gateway writes the logs of the account
}

func (f *function) restAPI(g restGateway) awsapigateway.RestApi {
	props := &awsapigateway.RestApiProps{
		RestApiName: jsii.String(g.name),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{
			Types:         &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
			IpAddressType: awsapigateway.IpAddressType_DUAL_STACK,
		},
		DisableExecuteApiEndpoint: jsii.Bool(g.hidden),
		CloudWatchRole:            jsii.Bool(g.writesLog),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String("live"),
			TracingEnabled:       jsii.Bool(false),
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(g.log),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog("$context.integration.error"))),
		},
	}
	if t, limited := f.Throttles[f.name]; limited {
		props.DeployOptions.ThrottlingRateLimit, props.DeployOptions.ThrottlingBurstLimit = number(t.Rate), number(t.Burst)
	}
	if g.writesLog { // the role serves the whole account, including other gateways, so it outlives the stack
		props.CloudWatchRoleRemovalPolicy = awscdk.RemovalPolicy_RETAIN
	}
	api := awsapigateway.NewRestApi(f.stack, jsii.String(g.id), props)
	f.routes(api.Root(), g.pages)
	f.gatewayRefusals(api)
	f.suppressRest(api)
	return api
}

// routes sends requests at a path and below it to the function of the pages, and all others to the content function.
func (f *function) routes(root awsapigateway.IResource, pages string) {
	own, at := f.stream(), root
	for part := range strings.SplitSeq(strings.Trim(pages, "/"), "/") {
		leadBelow(at, own)
		at = at.AddResource(jsii.String(part), nil)
	}
	leadBelow(at, f.pages.stream())
}

// stream returns the integration that passes the answer on while the function writes it.
func (f *function) stream() awsapigateway.LambdaIntegration {
	return awsapigateway.NewLambdaIntegration(f.lambda, &awsapigateway.LambdaIntegrationOptions{
		ResponseTransferMode: awsapigateway.ResponseTransferMode_STREAM,
		Timeout:              seconds(f.timeout),
		AllowTestInvoke:      jsii.Bool(false),
	})
}

// leadBelow sends every request for a resource and for what is below it to a function. {proxy+} alone would not match
// the resource itself.
func leadBelow(r awsapigateway.IResource, to awsapigateway.LambdaIntegration) {
	lead(r, to)
	lead(r.AddResource(jsii.String("{proxy+}"), nil), to)
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
