package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"
)

// streamingFront gives the content host a REST API: only that kind streams, which files above 6 MB need. Nothing on its
// way compresses, because ranges and entity tags hold for the bytes as they were stored.
func streamingFront(f *function) {
	named, own := f.Domains[f.name]
	api := f.restAPI(own)
	if own {
		f.restDomain(api, named)
		output(f.stack, "Url", jsii.String("https://"+named.Name))
		return
	}
	// The address that AWS makes up has the stage in its path, and an origin has no path: a distribution hides it.
	output(f.stack, "Url", jsii.String("https://"+*f.contentEdge(api).DistributionDomainName()))
}

func (f *function) restAPI(hidden bool) awsapigateway.RestApi {
	log := f.newLog("AccessLog")
	props := &awsapigateway.RestApiProps{
		RestApiName: f.stack.StackName(), EndpointTypes: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		DisableExecuteApiEndpoint: jsii.Bool(hidden), CloudWatchRole: jsii.Bool(f.LogRole),
		DeployOptions: &awsapigateway.StageOptions{
			StageName: jsii.String("live"), TracingEnabled: jsii.Bool(false), LoggingLevel: awsapigateway.MethodLoggingLevel_OFF,
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(log),
			AccessLogFormat: awsapigateway.AccessLogFormat_Custom(jsii.String(
				accessLog("$context.resourcePath", "$context.responseLatency", "$context.integration.error"))),
		},
	}
	if f.LogRole { // it serves the whole account, other gateways too
		props.CloudWatchRoleRemovalPolicy = awscdk.RemovalPolicy_RETAIN
	}
	api := awsapigateway.NewRestApi(f.stack, jsii.String("Api"), props)
	stream := awsapigateway.NewLambdaIntegration(f.lambda, &awsapigateway.LambdaIntegrationOptions{
		ResponseTransferMode: awsapigateway.ResponseTransferMode_STREAM, Timeout: seconds(f.timeout), AllowTestInvoke: jsii.Bool(false),
	})
	for _, r := range []awsapigateway.IResource{api.Root(), api.Root().AddResource(jsii.String("{proxy+}"), nil)} {
		method := r.AddMethod(jsii.String("ANY"), stream, &awsapigateway.MethodOptions{AuthorizationType: awsapigateway.AuthorizationType_NONE})
		suppress(method, rule{"AwsSolutions-APIG4", whoAuthorizes}, rule{"AwsSolutions-COG4", whoAuthorizes})
	}
	f.gatewayRefusals(api)
	f.reportErrorLines()
	f.suppressRest(api)
	return api
}

// gatewayRefusals gives the envelope of our refusals to what the gateway refuses by itself.
func (f *function) gatewayRefusals(api awsapigateway.RestApi) {
	refuse := func(id string, kind awsapigateway.ResponseType, code, message string) {
		api.AddGatewayResponse(jsii.String(id), &awsapigateway.GatewayResponseOptions{
			Type: kind, Templates: &map[string]*string{"application/json": jsii.String(
				`{"error":{"code":"` + code + `","message":"` + message + `","request_id":"$context.requestId"}}`)},
			ResponseHeaders: &map[string]*string{
				"Cache-Control": jsii.String("'no-store'"), "X-Content-Type-Options": jsii.String("'nosniff'"), "X-Robots-Tag": jsii.String("'noindex, nofollow'"),
			},
		})
	}
	refuse("Refused", awsapigateway.ResponseType_DEFAULT_4XX(), "invalid_request", "the gateway does not pass this request on")
	refuse("Failed", awsapigateway.ResponseType_DEFAULT_5XX(), "internal_error", "the content host did not answer; try again")
}
