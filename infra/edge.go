package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	cf "github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	origins "github.com/aws/aws-cdk-go/awscdk/v2/awscloudfrontorigins"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
)

// uploadFront gives the upload host an HTTP API and, if it has a custom domain, CloudFront in front of it. The
// distribution sends the paths of presigned requests to S3, replacing only the Host header, and all others to the API.
// Without a domain, clients upload to S3 directly.
func uploadFront(f *function) {
	named, own := f.Domains[f.name]
	if !own {
		httpFront(f)
		return
	}
	behind, hidden := f.Domains["origin"]
	api := f.httpAPI(hidden)
	origin := fmt.Sprintf("%s.execute-api.%s.%s", *api.Ref(), *f.stack.Region(), *f.stack.UrlSuffix())
	if hidden {
		f.httpDomain(api, behind)
		origin = behind.Name
	}
	f.putByEdge()
	edge := f.uploadEdge(origin, api, named)
	f.edgeRecord(edge, named)
	output(f.stack, "Url", jsii.String("https://"+named.Name))
}

// putByEdge makes the function sign PUTs to the upload host, instead of PUTs to S3.
func (f *function) putByEdge() {
	f.lambda.AddEnvironment(jsii.String(env.PutMode), jsii.String("edge"), nil)
}

// signingFront gives an HTTP API to a host that signs the same kind of PUTs as the upload host does.
func signingFront(f *function) {
	if f.hasDomains() {
		f.putByEdge()
	}
	httpFront(f)
}

func (f *function) uploadEdge(origin string, api awsapigatewayv2.CfnApi, named domain) cf.Distribution {
	// There is no origin access control, because it would sign the request too, and S3 refuses a request with two
	// signatures: a presigned PUT has its own.
	s3 := passing(origins.S3BucketOrigin_WithBucketDefaults(f.data.bucket, nil))
	edge := f.namedEdge("files to and from S3, the rest to the API", named, cf.DistributionProps{
		DefaultBehavior:     passing(httpsOrigin(origin, answerTime+2)),
		AdditionalBehaviors: &map[string]*cf.BehaviorOptions{"/o/*": s3, "/d/*": s3, "/cli/*": s3},
	})
	edge.Node().AddDependency(api)
	suppress(edge, edgeRules()...)
	return edge
}

// namedEdge makes a distribution that serves a domain. what says what it passes on.
func (f *function) namedEdge(what string, named domain, props cf.DistributionProps) cf.Distribution {
	props.DomainNames = jsii.Strings(named.Name)
	props.MinimumProtocolVersion = cf.SecurityPolicyProtocol_TLS_V1_2_2021
	props.Certificate = f.certificate("EdgeCertificate", named)
	return f.edge(what, props)
}

func (f *function) edge(what string, props cf.DistributionProps) cf.Distribution {
	props.Comment = jsii.String(*f.stack.StackName() + ": " + what)
	props.HttpVersion = cf.HttpVersion_HTTP2_AND_3
	props.ErrorResponses = neverCached()
	made := cf.NewDistribution(f.stack, jsii.String("Edge"), &props)
	f.edgeLog(made)
	return made
}

// contentEdge hides the stage in the path of the content host's gateway. It changes neither requests nor answers: it
// does not cache and does not compress.
func (f *function) contentEdge(api awsapigateway.RestApi) cf.Distribution {
	origin := origins.NewRestApiOrigin(api, &origins.RestApiOriginProps{ReadTimeout: seconds(streamStart)})
	edge := f.edge("an origin without a path", cf.DistributionProps{DefaultBehavior: passing(origin)})
	suppress(edge,
		append(edgeRules(), rule{"AwsSolutions-CFR4",
			"the address that AWS makes up has the certificate of CloudFront, whose TLS version cannot be chosen; production " +
				"has a domain"})...)
	return edge
}

// streamStart is how many seconds a distribution waits for the next bytes of a streamed answer.
const streamStart = 60

func httpsOrigin(name string, patience float64) cf.IOrigin {
	return origins.NewHttpOrigin(jsii.String(name), &origins.HttpOriginProps{
		ReadTimeout:        seconds(patience),
		ProtocolPolicy:     cf.OriginProtocolPolicy_HTTPS_ONLY,
		OriginSslProtocols: &[]cf.OriginSslPolicy{cf.OriginSslPolicy_TLS_V1_2},
	})
}

// labelEdge forwards requests for the artifacts' origins to the address of their gateway's domain. It keeps the Host
// header, because the gateway chooses its domain by it and the functions compare it with the artifact.
func (f *function) labelEdge(target *string, named domain) cf.Distribution {
	behavior := passing(httpsOrigin(*target, streamStart))
	behavior.OriginRequestPolicy = cf.OriginRequestPolicy_ALL_VIEWER()
	edge := f.namedEdge("origins of artifacts", named, cf.DistributionProps{DefaultBehavior: behavior})
	suppress(edge, edgeRules()...)
	return edge
}

// passing forwards every request unchanged except for the Host header. S3 and the gateways expect their own name there,
// and S3's signature covers it.
func passing(origin cf.IOrigin) *cf.BehaviorOptions {
	return &cf.BehaviorOptions{
		Origin:               origin,
		ViewerProtocolPolicy: cf.ViewerProtocolPolicy_HTTPS_ONLY,
		AllowedMethods:       cf.AllowedMethods_ALLOW_ALL(),
		CachePolicy:          cf.CachePolicy_CACHING_DISABLED(),
		OriginRequestPolicy:  cf.OriginRequestPolicy_ALL_VIEWER_EXCEPT_HOST_HEADER(),
		Compress:             jsii.Bool(false),
	}
}

// neverCached sets a lifetime of zero for the statuses that CloudFront caches for ten seconds even when caching is
// disabled.
func neverCached() *[]*cf.ErrorResponse {
	var all []*cf.ErrorResponse
	for _, status := range []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504} {
		all = append(all, &cf.ErrorResponse{HttpStatus: number(status), Ttl: seconds(0)})
	}
	return &all
}
