package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// behindSeconds is how old due work may get before the alarm says so.
const behindSeconds = 3600

// reportErrorLines raises an alarm on failures that do not end the function, such as those of DynamoDB or S3. It counts
// lines of the function's log, because the gateway's own metric counts every 5xx, and any client can cause one by
// calling a feature that is not configured.
func (f *function) reportErrorLines() {
	filter := f.count("ErrorLines", f.name+"-error-lines", &awslogs.MetricFilterOptions{
		FilterPattern: awslogs.FilterPattern_StringValue(jsii.String("$.level"), jsii.String("="), jsii.String("ERROR")),
		MetricValue:   jsii.String("1"),
		DefaultValue:  number(0),
	})
	f.alarm("ErrorLines", "Requests fail because of the service", 1, filter.Metric(sum()))
}

// reportBacklog raises an alarm when the jobs fall behind. It reads the age of the oldest due item, which the jobs log.
func (f *function) reportBacklog() {
	const field = "$.oldest_due_seconds"
	filter := f.count("Behind", f.name+"-oldest-due-seconds", &awslogs.MetricFilterOptions{
		FilterPattern: awslogs.FilterPattern_NumberValue(jsii.String(field), jsii.String(">="), number(0)),
		MetricValue:   jsii.String(field),
	})
	waited := filter.Metric(&awscloudwatch.MetricOptions{
		Statistic: jsii.String("Maximum"), Period: awscdk.Duration_Minutes(number(alarmPeriod)),
	})
	f.alarmOn("Behind", "What is due waits for more than an hour", waited, &awscloudwatch.CreateAlarmOptions{
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		Threshold:          number(behindSeconds),
		EvaluationPeriods:  number(1),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// count makes a metric from lines of the function's log.
func (f *function) count(id, name string, o *awslogs.MetricFilterOptions) awslogs.MetricFilter {
	o.MetricNamespace, o.MetricName = jsii.String("Vitrine/"+f.Name), jsii.String(name)
	return f.log.AddMetricFilter(jsii.String(id), o)
}

// topic returns the topic that alarms report to, or nil if there is none. It is made once per stack, because construct
// IDs must be unique.
func (f *function) topic() awssns.ITopic {
	if f.AlarmTopic == "" {
		return nil
	}
	if f.reports == nil {
		f.reports = awssns.Topic_FromTopicArn(f.stack, jsii.String("AlarmTopic"), jsii.String(f.AlarmTopic))
	}
	return f.reports
}
