package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	cf "github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// edgeFields are the fields that a distribution logs. Path, query, cookies and referrer are left out because they hold
// signed URLs, and the client's address because it is personal data. The pattern that matched tells requests for files
// from requests for the host.
var edgeFields = []string{
	"date", "time", "x-edge-location", "x-edge-request-id", "cs-method", "cache-behavior-path-pattern", "sc-status",
	"sc-bytes", "cs-bytes", "time-taken", "time-to-first-byte", "x-edge-result-type", "x-edge-detailed-result-type",
	"cs-protocol-version", "ssl-protocol",
}

// edgeLog makes a distribution log into a log group of the stack. CloudFront delivers logs from one region only, so a
// deployment elsewhere has none. A condition in the template decides that, because the region may be unknown during
// synthesis.
func (f *function) edgeLog(edge cf.Distribution) {
	if !f.EdgeLogs {
		return
	}
	here := awscdk.NewCfnCondition(f.stack, jsii.String("EdgeLogsHere"), &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionEquals(f.stack.Region(), jsii.String(edgeRegion)),
	})
	log := f.newLog("EdgeLog", "/aws/vendedlogs/cloudfront").Node().DefaultChild().(awslogs.CfnLogGroup)
	name := jsii.String(*f.stack.StackName() + "-edge")
	source := awslogs.NewCfnDeliverySource(f.stack, jsii.String("EdgeLogSource"), &awslogs.CfnDeliverySourceProps{
		Name: name, LogType: jsii.String("ACCESS_LOGS"),
		ResourceArn: jsii.String(fmt.Sprintf("arn:%s:cloudfront::%s:distribution/%s",
			*f.stack.Partition(), *f.stack.Account(), *edge.DistributionId())),
	})
	destination := awslogs.NewCfnDeliveryDestination(f.stack, jsii.String("EdgeLogDestination"),
		&awslogs.CfnDeliveryDestinationProps{
			Name: name, OutputFormat: jsii.String("json"),
			DestinationResourceArn: jsii.String(fmt.Sprintf("arn:%s:logs:%s:%s:log-group:%s",
				*f.stack.Partition(), *f.stack.Region(), *f.stack.Account(), *log.Ref())),
		})
	delivery := awslogs.NewCfnDelivery(f.stack, jsii.String("EdgeLogDelivery"), &awslogs.CfnDeliveryProps{
		DeliverySourceName: name, DeliveryDestinationArn: destination.AttrArn(), RecordFields: jsii.Strings(edgeFields...),
	})
	delivery.Node().AddDependency(source)
	for _, r := range []awscdk.CfnResource{log, source, destination, delivery} {
		r.CfnOptions().SetCondition(here)
	}
}
