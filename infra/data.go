package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// data is the stack of everything that must survive a deployment: tables, objects, keys, people.
type data struct {
	stack             awscdk.Stack
	core, events, hot awsdynamodb.ITableV2   // that the functions use
	restorable        []awsdynamodb.ITableV2 // that the recovery role may restore from
	key               awskms.Key
	bucket            awss3.IBucket // that the functions use
	recovery          awsiam.Role
	reports           awssns.ITopic                       // that alarms of the stack report to; nil: none
	rings             map[string]awssecretsmanager.Secret // by the setting that names them
	narrowWrites      bool
}

const backupDays = 35 // the most that DynamoDB offers

func newData(app awscdk.App, o options) *data {
	d := &data{
		stack:        o.newStack(app, "data", "Vitrine: tables, objects, key rings and people"),
		narrowWrites: o.NarrowWrites,
	}
	d.tables(o)
	d.key = awskms.NewKey(d.stack, jsii.String("Key"), &awskms.KeyProps{
		Description: jsii.String("Encrypts the objects and the key rings of " + o.Name), EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy: o.removal(),
	})
	d.makeRecovery()
	own := d.objects(o)
	d.exportOwn(own)
	d.adopt(o)
	d.copyFiles(o, own)
	d.grantRecovery(o)
	d.exportTables(o)
	d.makeRings(o)
	d.identify(o)
	d.budget(o)
	output(d.stack, "CoreTable", d.core.TableName())
	output(d.stack, "EventsTable", d.events.TableName())
	output(d.stack, "HotTable", d.hot.TableName())
	output(d.stack, "Bucket", d.bucket.BucketName())
	output(d.stack, "Key", d.key.KeyArn())
	if o.AgentProviders != "" {
		// scripts/deploy looks up the secret's version, and restarts the functions when it changes.
		output(d.stack, "AgentProviders", jsii.String(o.AgentProviders))
	}
	if o.Billing.on() {
		output(d.stack, "StripeKey", jsii.String(o.Billing.Key))
		output(d.stack, "StripeWebhookSecret", jsii.String(o.Billing.WebhookSecret))
	}
	return d
}

// tables makes the tables that dynamo.CreateTables makes elsewhere. A test compares the two.
func (d *data) tables(o options) {
	core := o.table(backupDays, "pk", "sk")
	core.DynamoStream = awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES
	core.GlobalSecondaryIndexes = &[]*awsdynamodb.GlobalSecondaryIndexPropsV2{
		newIndex("gsi1", "g1p", "g1s", awsdynamodb.ProjectionType_ALL),
		newIndex("gsi2", "g2p", "g2s", awsdynamodb.ProjectionType_KEYS_ONLY),
	}
	d.core = awsdynamodb.NewTableV2(d.stack, jsii.String("Core"), core)
	events := o.table(backupDays, "pk", "sk")
	events.GlobalSecondaryIndexes = &[]*awsdynamodb.GlobalSecondaryIndexPropsV2{
		newIndex("gsi1", "g1p", "g1s", awsdynamodb.ProjectionType_ALL),
	}
	d.events = awsdynamodb.NewTableV2(d.stack, jsii.String("Events"), events)
	d.hot = awsdynamodb.NewTableV2(d.stack, jsii.String("Hot"), o.table(0, "pk")) // no backup: it may be lost
}

// table returns the properties that all tables share. days is how far back a table can be restored; 0 makes no backup.
func (o options) table(days float64, keys ...string) *awsdynamodb.TablePropsV2 {
	props := &awsdynamodb.TablePropsV2{
		PartitionKey:        text(keys[0]),
		TimeToLiveAttribute: jsii.String("ttl"),
		Billing:             o.billing(),
		DeletionProtection:  jsii.Bool(o.Keep),
		RemovalPolicy:       o.removal(),
	}
	if len(keys) > 1 {
		props.SortKey = text(keys[1])
	}
	if days > 0 {
		props.PointInTimeRecoverySpecification = &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true), RecoveryPeriodInDays: number(days),
		}
	}
	return props
}

// billing returns on-demand billing, capped at the units of the options.
func (o options) billing() awsdynamodb.Billing {
	most := &awsdynamodb.MaxThroughputProps{}
	if o.ReadUnits > 0 {
		most.MaxReadRequestUnits = number(o.ReadUnits)
	}
	if o.WriteUnits > 0 {
		most.MaxWriteRequestUnits = number(o.WriteUnits)
	}
	return awsdynamodb.Billing_OnDemand(most)
}

func newIndex(name, key, sort string, carries awsdynamodb.ProjectionType) *awsdynamodb.GlobalSecondaryIndexPropsV2 {
	return &awsdynamodb.GlobalSecondaryIndexPropsV2{
		IndexName:      jsii.String(name),
		PartitionKey:   text(key),
		SortKey:        text(sort),
		ProjectionType: carries,
	}
}

func text(attribute string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(attribute), Type: awsdynamodb.AttributeType_STRING}
}
