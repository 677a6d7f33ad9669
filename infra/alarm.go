package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// behindSeconds is how long due work may wait for the jobs.
const behindSeconds = 3600

// reportErrorLines reports failures that the function survives, such as those of an engine. It
// counts them in the function's log, because the gateway's metric counts every 5xx, and any client
// can cause those of features that are not configured.
func (f *function) reportErrorLines() {
	filter := f.count("ErrorLines", f.name+"-error-lines", &awslogs.MetricFilterOptions{
		FilterPattern: awslogs.FilterPattern_StringValue(jsii.String("$.level"), jsii.String("="), jsii.String("ERROR")),
		MetricValue:   jsii.String("1"),
		DefaultValue:  number(0),
	})
	f.alarm("ErrorLines", "Requests fail because of the service", 1, filter.Metric(sum()))
}

// reportBacklog reports that the jobs are behind. They log the age of the oldest due item.
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

// count makes a metric of lines of the function's log.
func (f *function) count(id, name string, o *awslogs.MetricFilterOptions) awslogs.MetricFilter {
	o.MetricNamespace, o.MetricName = jsii.String("Vitrine/"+f.Name), jsii.String(name)
	return f.log.AddMetricFilter(jsii.String(id), o)
}

// topic returns where alarms report to; nil: nowhere.
func (f *function) topic() awssns.ITopic {
	if f.AlarmTopic == "" {
		return nil
	}
	if f.reports == nil {
		f.reports = awssns.Topic_FromTopicArn(f.stack, jsii.String("AlarmTopic"), jsii.String(f.AlarmTopic))
	}
	return f.reports
}
