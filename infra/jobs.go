package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// workTime leaves the last round of jobs time to end: they start new ones for less than a minute.
const workTime = 5 * 60

// jobsHost is the function that processes due work. It reads no key ring and no file, and it alone
// may delete files.
var jobsHost = host{
	name:    "jobs",
	memory:  512,
	timeout: workTime,
	grants: func(d *data) []awsiam.PolicyStatement {
		return []awsiam.PolicyStatement{
			allow(d.core.TableArn(), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem",
				"dynamodb:UpdateItem",
				"dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem"),
			allow(index(d.core, "gsi1"), "dynamodb:Query"),
			allow(index(d.core, "gsi2"), "dynamodb:Query"),
			allow(d.events.TableArn(), "dynamodb:PutItem"),
			allow(d.files(), "s3:DeleteObject"),
			allow(d.diffs(), "s3:DeleteObject"),
			d.listed("o/*"), d.listed("d/*"), // of sessions that were never finalized
		}
	},
}

// schedule wakes the function every minute. The next call continues what one leaves undone, so that
// neither the rule nor Lambda, which has a queue and attempts of its own, repeats a call.
func (f *function) schedule() {
	f.lambda.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{RetryAttempts: number(0), MaxEventAge: seconds(60)})
	awsevents.NewRule(f.stack, jsii.String("EveryMinute"), &awsevents.RuleProps{
		Description: jsii.String(
			"Wakes the jobs of Vitrine; disabled, what falls due waits, and nobody reads what has ended"),
		Schedule: awsevents.Schedule_Rate(seconds(60)),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(f.lambda, &awseventstargets.LambdaFunctionProps{
			RetryAttempts: number(0), MaxEventAge: seconds(60),
		})},
	})
	f.reportBacklog()
	f.alarmOn("Stopped", "Nothing wakes the jobs: what has ended is neither deleted nor moved",
		f.lambda.MetricInvocations(sum()),
		&awscloudwatch.CreateAlarmOptions{
			ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
			Threshold:          number(1),
			EvaluationPeriods:  number(2),
			TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
		})
}
