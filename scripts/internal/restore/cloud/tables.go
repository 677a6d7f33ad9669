package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// pollInterval is how often a table is asked whether it is ready.
const pollInterval = 10 * time.Second

// Tables makes tables as others were at an instant. Each of its calls may be repeated after any failure.
type Tables struct {
	DynamoDB *dynamodb.Client
	Clock    Clock
}

// Source is a table at an instant.
type Source struct {
	Table  string
	At     time.Time
	Backup string // ARN of the backup that was made when Table was deleted, which has no other instant; empty: it lives
}

// Restore makes a table of a source and waits until it can be read. It takes a table of that name for its own.
func (t Tables) Restore(ctx context.Context, from Source, to string) error {
	there, err := t.describe(ctx, to)
	if err != nil {
		return err
	}
	if there == nil {
		if err := t.begin(ctx, from, to); err != nil {
			return fmt.Errorf("%s cannot be made of %s: %w", to, from.Table, err)
		}
	}
	_, err = t.active(ctx, to)
	return err
}

func (t Tables) begin(ctx context.Context, from Source, to string) error {
	var err error
	if from.Backup != "" {
		_, err = t.DynamoDB.RestoreTableFromBackup(ctx, &dynamodb.RestoreTableFromBackupInput{
			BackupArn: &from.Backup, TargetTableName: &to,
		})
	} else {
		_, err = t.DynamoDB.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: &from.Table, TargetTableName: &to, RestoreDateTime: &from.At,
		})
	}
	return made(err)
}

// Create makes an empty table, unless it is there, and waits until it can be written.
func (t Tables) Create(ctx context.Context, in *dynamodb.CreateTableInput) error {
	there, err := t.describe(ctx, *in.TableName)
	if err != nil {
		return err
	}
	if there == nil {
		_, err := t.DynamoDB.CreateTable(ctx, in)
		if err := made(err); err != nil {
			return err
		}
	}
	_, err = t.active(ctx, *in.TableName)
	return err
}

// made accepts that a call was repeated because its answer was lost.
func made(err error) error {
	_, exists := errors.AsType[*types.TableAlreadyExistsException](err)
	_, used := errors.AsType[*types.TableInUseException](err)
	_, busy := errors.AsType[*types.ResourceInUseException](err)
	if exists || used || busy {
		return nil
	}
	return err
}

// Drop deletes a table although it is protected, and waits until it is gone.
func (t Tables) Drop(ctx context.Context, name string) error {
	d, err := t.active(ctx, name)
	if err != nil || d == nil {
		return err
	}
	if d.DeletionProtectionEnabled != nil && *d.DeletionProtectionEnabled {
		unprotected := false
		if err := t.update(ctx, &dynamodb.UpdateTableInput{
			TableName: &name, DeletionProtectionEnabled: &unprotected,
		}); err != nil {
			return err
		}
	}
	if _, err := t.DynamoDB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil && !missing(err) {
		return err
	}
	return t.until(ctx, func() (bool, error) {
		d, err := t.describe(ctx, name)
		return d == nil, err
	})
}

// describe returns a table, or nil if there is none.
func (t Tables) describe(ctx context.Context, name string) (*types.TableDescription, error) {
	out, err := t.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func missing(err error) bool {
	_, gone := errors.AsType[*types.ResourceNotFoundException](err)
	return gone
}

// active waits until a table and its indexes are ready, and returns it; nil if there is none.
func (t Tables) active(ctx context.Context, name string) (d *types.TableDescription, err error) {
	err = t.until(ctx, func() (bool, error) {
		if d, err = t.describe(ctx, name); err != nil || d == nil {
			return true, err
		}
		ready := d.TableStatus == types.TableStatusActive
		for _, i := range d.GlobalSecondaryIndexes {
			ready = ready && (i.IndexStatus == types.IndexStatusActive || i.IndexStatus == "")
		}
		return ready, nil
	})
	return d, err
}

// update changes a table and waits until the change is made.
func (t Tables) update(ctx context.Context, in *dynamodb.UpdateTableInput) error {
	if _, err := t.DynamoDB.UpdateTable(ctx, in); err != nil {
		return fmt.Errorf("%s cannot be changed: %w", *in.TableName, err)
	}
	_, err := t.active(ctx, *in.TableName)
	return err
}

// until asks until the answer is yes.
func (t Tables) until(ctx context.Context, done func() (bool, error)) error {
	for {
		yes, err := done()
		if err != nil || yes {
			return err
		}
		if err := t.Clock.Wait(ctx, pollInterval); err != nil {
			return err
		}
	}
}
