package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// tables is what is asked of DynamoDB.
type tables interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (
		*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (
		*dynamodb.DescribeTimeToLiveOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (
		*dynamodb.DescribeContinuousBackupsOutput, error)
}

// table is a table as DynamoDB describes it.
type table struct{ described, expires, restorable any }

func describe(ctx context.Context, from tables, name string) (t table, err error) {
	described, err := from.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return t, fmt.Errorf("table %s cannot be described: %w", name, err)
	}
	expires, err := from.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return t, fmt.Errorf("the time to live of table %s cannot be read: %w", name, err)
	}
	backups, err := from.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return t, fmt.Errorf("the backups of table %s cannot be read: %w", name, err)
	}
	return table{
		described:  unpacked(described.Table),
		expires:    unpacked(expires.TimeToLiveDescription),
		restorable: unpacked(backups.ContinuousBackupsDescription),
	}, nil
}

const restoreAgain = "neither keys nor attributes can be changed: restore it from a table of this deployment"

// aspects compares a table with the properties of the table that the deployment makes itself.
func (t table) aspects(name string, own any) []aspect {
	update := "aws dynamodb update-table --table-name " + name
	all := []aspect{
		t.same(own, "KeySchema", restoreAgain),
		t.same(own, "AttributeDefinitions", restoreAgain),
		t.same(own, "GlobalSecondaryIndexes", "restore it from a table of this deployment without leaving indexes away, or "+
			"make these with "+update+" --global-secondary-index-updates: "+packed(at(own, "GlobalSecondaryIndexes"))),
		{
			what: "the billing",
			want: at(own, "BillingMode"),
			got:  at(t.described, "BillingModeSummary", "BillingMode"),
			fix:  update + " --billing-mode PAY_PER_REQUEST",
		},
		t.bounds(update, own),
		t.expiry(name, at(own, "TimeToLiveSpecification", "AttributeName")),
	}
	if kind := at(own, "StreamSpecification", "StreamViewType"); kind != nil {
		all = append(all, aspect{
			what: "the stream",
			want: map[string]any{"StreamEnabled": true, "StreamViewType": kind},
			got:  at(t.described, "StreamSpecification"),
			fix:  fmt.Sprintf("%s --stream-specification StreamEnabled=true,StreamViewType=%v", update, kind),
		})
	}
	return append(all, t.protection(name, at(own, "Replicas", 0))...)
}

// bounds compares the most request units that a table takes in a second.
func (t table) bounds(update string, own any) aspect {
	reads := bound(at(own, "Replicas", 0, "ReadOnDemandThroughputSettings", "MaxReadRequestUnits"))
	writes := bound(at(own, "WriteOnDemandThroughputSettings", "MaxWriteRequestUnits"))
	return aspect{
		what: "the most request units",
		want: map[string]any{"reads": reads, "writes": writes},
		got: map[string]any{
			"reads":  bound(at(t.described, "OnDemandThroughput", "MaxReadRequestUnits")),
			"writes": bound(at(t.described, "OnDemandThroughput", "MaxWriteRequestUnits")),
		},
		fix: fmt.Sprintf("%s --on-demand-throughput MaxReadRequestUnits=%v,MaxWriteRequestUnits=%v", update, reads, writes),
	}
}

// expiry compares the time to live.
func (t table) expiry(name string, attribute any) aspect {
	return aspect{
		what: "the time to live",
		want: map[string]any{"AttributeName": attribute, "TimeToLiveStatus": "ENABLED"},
		got:  t.expires,
		fix: fmt.Sprintf("aws dynamodb update-time-to-live --table-name %s --time-to-live-specification "+
			"Enabled=true,AttributeName=%v", name, attribute),
	}
}

// protection compares what keeps the table's items. A table may be protected better than a deployment protects it.
func (t table) protection(name string, replica any) (all []aspect) {
	if days := at(replica, "PointInTimeRecoverySpecification", "RecoveryPeriodInDays"); days != nil {
		all = append(all, aspect{
			what: "point-in-time recovery",
			want: map[string]any{"PointInTimeRecoveryStatus": "ENABLED", "RecoveryPeriodInDays": days},
			got:  at(t.restorable, "PointInTimeRecoveryDescription"),
			fix: fmt.Sprintf("aws dynamodb update-continuous-backups --table-name %s --point-in-time-recovery-specification "+
				"PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=%v", name, days),
		})
	}
	if at(replica, "DeletionProtectionEnabled") == true {
		all = append(all, aspect{
			what: "deletion protection",
			want: true,
			got:  at(t.described, "DeletionProtectionEnabled"),
			fix:  "aws dynamodb update-table --table-name " + name + " --deletion-protection-enabled",
		})
	}
	return all
}

// same compares a property that the template and DynamoDB name alike.
func (t table) same(own any, property, fix string) aspect {
	return aspect{
		what: property,
		want: at(own, property),
		got:  at(t.described, property),
		fix:  fix,
	}
}

// bound returns the most request units; -1 is DynamoDB's word for no bound.
func bound(units any) any {
	if units == nil {
		return float64(-1)
	}
	return units
}
