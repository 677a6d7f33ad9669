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

// httpDomain serves an HTTP API under a domain of ours.
func (f *function) httpDomain(api awsapigatewayv2.CfnApi, named domain) {
	d := awsapigatewayv2.NewDomainName(f.stack, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{
		DomainName: jsii.String(named.Name), EndpointType: awsapigatewayv2.EndpointType_REGIONAL, SecurityPolicy: awsapigatewayv2.SecurityPolicy_TLS_1_2,
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(f.stack, jsii.String("Certificate"), jsii.String(named.Certificate)),
	})
	mapping := awsapigatewayv2.NewCfnApiMapping(f.stack, jsii.String("Mapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: api.Ref(), DomainName: d.Name(), Stage: jsii.String("$default"),
	})
	mapping.Node().AddDependency(f.stack.Node().FindChild(jsii.String("Stage")))
	f.record("Record", named, d.RegionalDomainName(), awsroute53targets.NewApiGatewayv2DomainProperties(d.RegionalDomainName(), d.RegionalHostedZoneId()), awsroute53.RecordType_A)
}

// restDomain serves a REST API under a domain of ours.
func (f *function) restDomain(api awsapigateway.RestApi, named domain) {
	d := awsapigateway.NewDomainName(f.stack, jsii.String("Domain"), &awsapigateway.DomainNameProps{
		DomainName: jsii.String(named.Name), EndpointType: awsapigateway.EndpointType_REGIONAL, SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(f.stack, jsii.String("Certificate"), jsii.String(named.Certificate)),
		Mapping:     api,
	})
	f.record("Record", named, d.DomainNameAliasDomainName(), awsroute53targets.NewApiGatewayDomain(d), awsroute53.RecordType_A)
}

// edgeRecord points a domain at a distribution.
func (f *function) edgeRecord(edge awscloudfront.Distribution, named domain) {
	f.record("EdgeRecord", named, edge.DistributionDomainName(), awsroute53targets.NewCloudFrontTarget(edge), awsroute53.RecordType_A, awsroute53.RecordType_AAAA)
}

func (f *function) record(id string, named domain, target *string, alias awsroute53.IAliasRecordTarget, kinds ...awsroute53.RecordType) {
	record(f.stack, id, named, target, alias, kinds...)
}

// record makes the DNS records where the zone is given; the output says what they have to point at where it is not.
func record(stack awscdk.Stack, id string, named domain, target *string, alias awsroute53.IAliasRecordTarget, kinds ...awsroute53.RecordType) {
	output(stack, id+"Target", target)
	if named.ZoneID == "" {
		return
	}
	zone := awsroute53.HostedZone_FromHostedZoneAttributes(stack, jsii.String(id+"Zone"), &awsroute53.HostedZoneAttributes{
		HostedZoneId: jsii.String(named.ZoneID), ZoneName: jsii.String(named.ZoneName),
	})
	for _, kind := range kinds {
		awsroute53.NewRecordSet(stack, jsii.String(id+string(kind)), &awsroute53.RecordSetProps{
			Zone: zone, RecordName: jsii.String(named.Name + "."), RecordType: kind, Target: awsroute53.RecordTarget_FromAlias(alias),
		})
	}
}
