package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// workTime is the timeout of a scheduled function in seconds. A function starts new rounds for less than a minute; the
// rest of the time lets the last round end.
const workTime = 5 * 60

// wakeSeconds is how often each scheduled function runs.
const wakeSeconds = 60

// scheduledHosts are the functions that a schedule wakes, and no request reaches. They hold no key ring.
var scheduledHosts = []host{
	{
		name:    "jobs",
		memory:  512,
		timeout: workTime,
		grants:  (*data).jobsRights,
		purpose: "Wakes the jobs of Vitrine; disabled, what falls due waits, and nobody reads what has ended",
		idle:    "Nothing wakes the jobs: what has ended is neither deleted nor moved",
	},
	{
		name:    "bundle",
		memory:  1024,
		timeout: workTime,
		grants:  (*data).bundleRights,
		purpose: "Wakes the function that makes bundles and exports; disabled, new ones stay pending",
		idle:    "Nothing makes bundles and exports: new ones stay pending",
	},
}

// schedule wakes the function every minute. Neither the rule nor Lambda, which has a queue and retries of its own,
// repeats a failed call, because the next minute's call continues its work.
func (f *function) schedule() {
	f.lambda.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{RetryAttempts: number(0), MaxEventAge: seconds(60)})
	awsevents.NewRule(f.stack, jsii.String("EveryMinute"), &awsevents.RuleProps{
		Description: jsii.String(f.purpose),
		Enabled:     jsii.Bool(true),
		Schedule:    awsevents.Schedule_Rate(seconds(wakeSeconds)),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(f.lambda, &awseventstargets.LambdaFunctionProps{
			RetryAttempts: number(0), MaxEventAge: seconds(60),
		})},
	})
	f.reportBacklog()
	f.alarmOn("Stopped", f.idle,
		f.lambda.MetricInvocations(sum()),
		&awscloudwatch.CreateAlarmOptions{
			ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
			Threshold:          number(1),
			EvaluationPeriods:  number(2),
			TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
		})
}

// reconcile wakes the function that receives Stripe's events once a day, so that it compares subscriptions with plans.
// The next run makes up for one that is lost.
func (f *function) reconcile() {
	if !f.hears || !f.Billing.on() {
		return
	}
	awsevents.NewRule(f.stack, jsii.String("Daily"), &awsevents.RuleProps{
		Description: jsii.String("Compares the subscriptions at Stripe with the plans of workspaces"),
		Schedule:    awsevents.Schedule_Cron(&awsevents.CronOptions{Hour: jsii.String("6"), Minute: jsii.String("0")}),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(f.lambda, &awseventstargets.LambdaFunctionProps{
			RetryAttempts: number(1), MaxEventAge: seconds(3600),
		})},
	})
}
