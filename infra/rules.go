package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// checkRules checks the templates against the AWS Solutions rules of cdk-nag. The CDK itself brings CloudFormation's
// own rules, which cdk.json makes strict.
func checkRules(app awscdk.App) {
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
}

// rule names a rule of cdk-nag that does not apply, and why.
type rule struct{ id, reason string }

// suppress exempts a construct and its children from rules.
func suppress(c constructs.Construct, rules ...rule) {
	var all []*cdknag.NagPackSuppression
	for _, r := range rules {
		all = append(all, &cdknag.NagPackSuppression{Id: jsii.String(r.id), Reason: jsii.String(r.reason)})
	}
	cdknag.NagSuppressions_AddResourceSuppressions(c, &all, jsii.Bool(true))
}

const whoAuthorizes = "the function checks the credential or signed token of every request itself, in one read with " +
	"the state that decides"

// edgeRules returns the rules that do not apply to distributions.
func edgeRules() []rule {
	return []rule{
		{"AwsSolutions-CFR1", "published pages are for readers everywhere"},
		{"AwsSolutions-CFR2",
			"the hosts count requests per artifact, actor and workspace themselves; a firewall is the deployer's choice"},
		{"AwsSolutions-CFR3", "the log that this rule asks for holds paths and queries, which are signed URLs; instead " +
			"chosen fields are delivered without them. The bucket's access log does hold those of presigned PUTs, whose " +
			"signatures live for minutes and write nothing twice: it is for operators only"},
	}
}

// suppressRest exempts the streaming gateway from rules.
func (f *function) suppressRest(api awsapigateway.RestApi) {
	suppress(api,
		rule{"AwsSolutions-APIG2", "requests have no body, and the function checks path and token"},
		rule{"AwsSolutions-APIG3", "the host counts requests per artifact itself; a firewall is the deployer's choice"},
		rule{"AwsSolutions-APIG6", "execution logs hold paths, which are signed tokens; the access log names routes"},
	)
	if f.LogRole {
		suppress(api, rule{"AwsSolutions-IAM4", "API Gateway takes exactly this managed policy for its right to write logs"})
	}
}

// suppressFiles exempts a role whose only wildcards are the objects of the bucket, by prefix.
func suppressFiles(role constructs.Construct) {
	cdknag.NagSuppressions_AddResourceSuppressions(role, &[]*cdknag.NagPackSuppression{{
		Id: jsii.String("AwsSolutions-IAM5"),
		AppliesTo: &[]any{&cdknag.RegexAppliesTo{Regex: jsii.String(
			`/^Resource::(<Objects[0-9A-F]*\.Arn>|arn:<AWS::Partition>:s3:::[a-z0-9.-]+)\/([odbx]|cli)\/\*$/`)}},
		Reason: jsii.String(
			"o/* are the uploaded files, d/* diffs of them, b/* and x/* archives, whose keys are made of ids that no policy can " +
				"know; cli/* is the CLI, whose versions come and go"),
	}}, jsii.Bool(true))
}
