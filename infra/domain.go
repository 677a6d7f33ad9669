package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// httpDomain serves an HTTP API under a custom domain.
func (f *function) httpDomain(api awsapigatewayv2.CfnApi, named domain) {
	d := awsapigatewayv2.NewDomainName(f.stack, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{
		DomainName:     jsii.String(named.Name),
		EndpointType:   awsapigatewayv2.EndpointType_REGIONAL,
		SecurityPolicy: awsapigatewayv2.SecurityPolicy_TLS_1_2,
		IpAddressType:  awsapigatewayv2.IpAddressType_DUAL_STACK,
		Certificate:    f.certificate("Certificate", named),
	})
	mapping := awsapigatewayv2.NewCfnApiMapping(f.stack, jsii.String("Mapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: api.Ref(), DomainName: d.Name(), Stage: jsii.String("$default"),
	})
	// The mapping names its stage by a string, so CloudFormation does not see that it needs the stage first.
	mapping.Node().AddDependency(f.stack.Node().FindChild(jsii.String("Stage")))
	target := awsroute53targets.NewApiGatewayv2DomainProperties(d.RegionalDomainName(), d.RegionalHostedZoneId())
	f.record("Record", named, d.RegionalDomainName(), target)
}

// restDomain serves a REST API under a custom domain, whose constructs have IDs with a prefix.
func (f *function) restDomain(prefix string, api awsapigateway.RestApi, named domain) awsapigateway.DomainName {
	d := awsapigateway.NewDomainName(f.stack, jsii.String(prefix+"Domain"), &awsapigateway.DomainNameProps{
		DomainName:     jsii.String(named.Name),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
		Certificate:    f.certificate(prefix+"Certificate", named),
		Mapping:        api,
	})
	// The CDK's construct has no property for this.
	made := d.Node().DefaultChild().(awsapigateway.CfnDomainName)
	made.AddPropertyOverride(jsii.String("EndpointConfiguration.IpAddressType"), jsii.String("dualstack"))
	return d
}

// certificate imports the certificate of a domain, which is in the region of what serves it.
func (f *function) certificate(id string, named domain) awscertificatemanager.ICertificate {
	return awscertificatemanager.Certificate_FromCertificateArn(f.stack, jsii.String(id), jsii.String(named.Certificate))
}

// edgeRecord points a domain at a distribution.
func (f *function) edgeRecord(edge awscloudfront.Distribution, named domain) {
	f.record("EdgeRecord", named, edge.DistributionDomainName(), awsroute53targets.NewCloudFrontTarget(edge))
}

func (f *function) record(id string, named domain, target *string, alias awsroute53.IAliasRecordTarget) {
	record(f.stack, id, named, target, alias)
}

// record makes the DNS records, for IPv4 and IPv6, if the zone is given. In any case an output names their target.
func record(stack awscdk.Stack, id string, named domain, target *string, alias awsroute53.IAliasRecordTarget) {
	output(stack, id+"Target", target)
	if named.ZoneID == "" {
		return
	}
	zone := awsroute53.HostedZone_FromHostedZoneAttributes(stack, jsii.String(id+"Zone"), &awsroute53.HostedZoneAttributes{
		HostedZoneId: jsii.String(named.ZoneID), ZoneName: jsii.String(named.ZoneName),
	})
	for _, kind := range []awsroute53.RecordType{awsroute53.RecordType_A, awsroute53.RecordType_AAAA} {
		awsroute53.NewRecordSet(stack, jsii.String(id+string(kind)), &awsroute53.RecordSetProps{
			Zone:       zone,
			RecordName: jsii.String(named.Name + "."),
			RecordType: kind,
			Target:     awsroute53.RecordTarget_FromAlias(alias),
		})
	}
}
