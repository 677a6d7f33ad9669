package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// historyDays is how far back core and events can be restored: the most that DynamoDB offers.
const historyDays = 35

// ttlAttribute is what tells DynamoDB when it may delete an item.
const ttlAttribute = "ttl"

// Wanted is what a table of a deployment has, beside its items.
type Wanted struct {
	*dynamodb.CreateTableInput      // its name, keys and indexes
	History                    bool // it can be restored to an instant
	Stream                     bool
	// Read and Write are the most request units of the table and of each index in a second; 0: the account's quota.
	Read, Write int64
	Tags        map[string]string
}

// Settle gives a table what DynamoDB does not restore. It refuses a table with other keys or indexes.
func (t Tables) Settle(ctx context.Context, w Wanted) error {
	name := *w.TableName
	d, err := t.active(ctx, name)
	if err != nil {
		return err
	}
	if err := ours(d, w.CreateTableInput); err != nil {
		return err
	}
	if err := t.enableTTL(ctx, name); err != nil {
		return err
	}
	if w.History {
		if err := t.keepHistory(ctx, name); err != nil {
			return err
		}
	}
	for _, change := range w.changes(d) {
		if err := t.update(ctx, change); err != nil {
			return err
		}
	}
	return t.tag(ctx, *d.TableArn, w.Tags)
}

// ours refuses a table that no deployment can run on.
func ours(d *types.TableDescription, want *dynamodb.CreateTableInput) error {
	if d == nil {
		return fmt.Errorf("the table %s is gone: begin anew after abandon", *want.TableName)
	}
	got, wanted := []string{keys(d.KeySchema)}, []string{keys(want.KeySchema)}
	for _, i := range d.GlobalSecondaryIndexes {
		got = append(got, describeIndex(i.IndexName, i.KeySchema, i.Projection))
	}
	for _, i := range want.GlobalSecondaryIndexes {
		wanted = append(wanted, describeIndex(i.IndexName, i.KeySchema, i.Projection))
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		return fmt.Errorf("the table %s is none of this deployment: it has %v, not %v", *want.TableName, got, wanted)
	}
	return nil
}

func describeIndex(name *string, schema []types.KeySchemaElement, p *types.Projection) string {
	return fmt.Sprint("index ", aws.ToString(name), " ", keys(schema), " ", p.ProjectionType)
}

func keys(schema []types.KeySchemaElement) (text string) {
	for _, k := range schema {
		text += fmt.Sprint(k.KeyType, " ", aws.ToString(k.AttributeName), " ")
	}
	return text
}

func (t Tables) enableTTL(ctx context.Context, name string) error {
	now, err := t.DynamoDB.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return err
	}
	if d := now.TimeToLiveDescription; d != nil && (d.TimeToLiveStatus == types.TimeToLiveStatusEnabled ||
		d.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		return nil // a second request within an hour would be refused
	}
	_, err = t.DynamoDB.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(ttlAttribute), Enabled: aws.Bool(true),
		},
	})
	return err
}

// keepHistory turns point-in-time recovery on. A table that was just made may refuse that for a while.
func (t Tables) keepHistory(ctx context.Context, name string) error {
	return t.until(ctx, func() (bool, error) {
		_, err := t.DynamoDB.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName: &name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true), RecoveryPeriodInDays: aws.Int32(historyDays),
			},
		})
		if _, early := errors.AsType[*types.ContinuousBackupsUnavailableException](err); early {
			return false, nil
		}
		return err == nil, err
	})
}

// changes returns what differs, one change at a time, because DynamoDB refuses several at once.
func (w Wanted) changes(d *types.TableDescription) (all []*dynamodb.UpdateTableInput) {
	if !aws.ToBool(d.DeletionProtectionEnabled) {
		all = append(all, &dynamodb.UpdateTableInput{TableName: w.TableName, DeletionProtectionEnabled: aws.Bool(true)})
	}
	if s := d.StreamSpecification; w.Stream && (s == nil || !aws.ToBool(s.StreamEnabled)) {
		all = append(all, &dynamodb.UpdateTableInput{
			TableName: w.TableName,
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
			},
		})
	}
	if in := w.ceilings(d); in != nil {
		all = append(all, in)
	}
	return all
}

// ceilings returns the change that gives table and indexes their ceilings; nil if they have them.
func (w Wanted) ceilings(d *types.TableDescription) *dynamodb.UpdateTableInput {
	most := ceiling(w.Read, w.Write)
	in := &dynamodb.UpdateTableInput{TableName: w.TableName}
	if most != nil && !reflect.DeepEqual(d.OnDemandThroughput, most) {
		in.OnDemandThroughput = most
	}
	for _, i := range d.GlobalSecondaryIndexes {
		if most != nil && !reflect.DeepEqual(i.OnDemandThroughput, most) {
			in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
				Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: i.IndexName, OnDemandThroughput: most},
			})
		}
	}
	if in.OnDemandThroughput == nil && in.GlobalSecondaryIndexUpdates == nil {
		return nil
	}
	return in
}

func ceiling(read, write int64) *types.OnDemandThroughput {
	if read == 0 && write == 0 {
		return nil
	}
	most := &types.OnDemandThroughput{}
	if read > 0 {
		most.MaxReadRequestUnits = &read
	}
	if write > 0 {
		most.MaxWriteRequestUnits = &write
	}
	return most
}

func (t Tables) tag(ctx context.Context, arn string, tags map[string]string) error {
	in := &dynamodb.TagResourceInput{ResourceArn: &arn}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	_, err := t.DynamoDB.TagResource(ctx, in)
	return err
}
