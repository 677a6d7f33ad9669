package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// exportRate is how often a table is exported. The first export starts when the schedule is made.
const exportRate = "rate(1 day)"

// overdueHours is how many hours after the last start of an export the alarm reports that there was none.
const overdueHours = 26

// exportPrefix returns where the exports of a deployment are in the second bucket.
func (o options) exportPrefix() string { return "exports/" + o.Name }

// exportTables has the tables that can be restored exported to the second bucket once a day. DynamoDB reads its own
// backup for that, so that the export costs the tables no capacity.
func (d *data) exportTables(o options) {
	if !o.Backup.Exports {
		return
	}
	role := awsiam.NewRole(d.stack, jsii.String("Export"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": d.stack.Account()}},
		}),
		Description: jsii.String("Exports tables of Vitrine to a second bucket"),
	})
	for _, s := range o.putExports() {
		role.AddToPolicy(s)
	}
	suppress(role, rule{"AwsSolutions-IAM5", "DynamoDB names the objects of an export"})
	if o.AlarmTopic != "" {
		d.reports = awssns.Topic_FromTopicArn(d.stack, jsii.String("AlarmTopic"), jsii.String(o.AlarmTopic))
	}
	for _, name := range []string{"Core", "Events"} { // in one order, or the template would change
		table := map[string]awsdynamodb.ITableV2{"Core": d.core, "Events": d.events}[name]
		role.AddToPolicy(allow(table.TableArn(), "dynamodb:ExportTableToPointInTime"))
		group := d.scheduleExport(name, &awsscheduler.CfnSchedule_TargetProperty{
			Arn:     jsii.String("arn:" + *d.stack.Partition() + ":scheduler:::aws-sdk:dynamodb:exportTableToPointInTime"),
			RoleArn: role.RoleArn(),
			Input:   d.stack.ToJsonString(o.exportInput(table), nil),
		}, role.Node().FindChild(jsii.String("DefaultPolicy")))
		d.watchExports(name, group)
	}
}

// scheduleExport makes the schedule of one table, once the rights are there. The schedule has a group of its own,
// because Scheduler's metrics tell groups apart and not schedules. scheduleExport returns the name of the group.
func (d *data) scheduleExport(table string, to *awsscheduler.CfnSchedule_TargetProperty,
	rights constructs.IDependable) *string {
	name := jsii.String(*d.stack.StackName() + "-Export" + table)
	group := awsscheduler.NewCfnScheduleGroup(d.stack, jsii.String("Exports"+table), &awsscheduler.CfnScheduleGroupProps{
		Name: name,
	})
	schedule := awsscheduler.NewCfnSchedule(d.stack, jsii.String("Export"+table), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String("Exports a table of Vitrine to the second bucket"),
		GroupName:          name,
		ScheduleExpression: jsii.String(exportRate),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target:             to,
	})
	schedule.Node().AddDependency(group, rights)
	return name
}

// watchExports raises an alarm when no export of a table was started, and one when Scheduler gave one up. Whether a
// started export ended well is told by DynamoDB alone.
func (d *data) watchExports(table string, group *string) {
	count := func(metric string) awscloudwatch.Metric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace:     jsii.String("AWS/Scheduler"),
			MetricName:    jsii.String(metric),
			DimensionsMap: &map[string]*string{"ScheduleGroup": group},
			Statistic:     jsii.String("Sum"),
			Period:        awscdk.Duration_Hours(number(1)),
		})
	}
	overdue := count("InvocationAttemptCount").CreateAlarm(d.stack, jsii.String("Overdue"+table),
		&awscloudwatch.CreateAlarmOptions{
			AlarmDescription:   jsii.String("Vitrine: no export of a table was started for 26 hours"),
			ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
			Threshold:          number(1),
			EvaluationPeriods:  number(overdueHours),
			TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
		})
	dropped := count("InvocationDroppedCount").CreateAlarm(d.stack, jsii.String("Dropped"+table),
		&awscloudwatch.CreateAlarmOptions{
			AlarmDescription:  jsii.String("Vitrine: DynamoDB refused the export of a table until Scheduler gave it up"),
			Threshold:         number(1),
			EvaluationPeriods: number(1),
			TreatMissingData:  awscloudwatch.TreatMissingData_NOT_BREACHING,
		})
	if d.reports != nil {
		overdue.AddAlarmAction(awscloudwatchactions.NewSnsAction(d.reports))
		dropped.AddAlarmAction(awscloudwatchactions.NewSnsAction(d.reports))
	}
}

// putExports allows writing exports into the second bucket.
func (o options) putExports() []awsiam.PolicyStatement {
	objects := jsii.String(o.Backup.CopyBucket + "/" + o.exportPrefix() + "/*")
	return []awsiam.PolicyStatement{
		allow(objects, "s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"),
		o.Backup.useKey("kms:Decrypt", "kms:GenerateDataKey"),
	}
}

// exportInput returns the request for an export. Scheduler puts an id of the run into its token, so that a repeated
// attempt starts no second export.
func (o options) exportInput(table awsdynamodb.ITableV2) map[string]any {
	input := map[string]any{
		"ClientToken":    "<aws.scheduler.execution-id>",
		"TableArn":       table.TableArn(),
		"S3Bucket":       bucketPrefix.ReplaceAllString(o.Backup.CopyBucket, ""),
		"S3Prefix":       o.exportPrefix(),
		"S3SseAlgorithm": "KMS",
		"S3SseKmsKeyId":  o.Backup.CopyKey,
	}
	if o.Backup.CopyAccount != "" {
		input["S3BucketOwner"] = o.Backup.CopyAccount
	}
	return input
}
