package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/adapter/dynamo"
)

// begin returns a new restore, or why there can be none. It only reads.
func (r Restore) begin(ctx context.Context) (*work, error) {
	w, err := r.decide()
	if err != nil {
		return nil, err
	}
	for _, check := range []func(context.Context) error{w.refuseSecond, w.findHistory, w.findHot, w.checkBucket} {
		if err := check(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// decide returns a new restore with the names of what it will make.
func (r Restore) decide() (*work, error) {
	living, err := r.living()
	if err != nil {
		return nil, err
	}
	if _, err := r.functions(); err != nil {
		return nil, err
	}
	if err := r.checkWishes(living); err != nil {
		return nil, err
	}
	now := r.Clock.Now()
	w := r.work(&journal{
		Format:   journalFormat,
		Instant:  r.At.UTC().Truncate(time.Second),
		Began:    now.UTC(),
		Living:   living,
		Set:      set{dynamo.Named(r.prefix() + stamp(now)), cmp.Or(r.Bucket, living.Bucket)},
		Backups:  map[string]string{},
		Filled:   r.Files != nil,
		Context:  r.Words,
		Except:   r.Except,
		Rules:    map[string]bool{},
		Reserved: map[string]*int{},
		file:     r.journalFile(),
	})
	return w, w.readLimits()
}

// checkWishes refuses what the operator cannot have meant.
func (r Restore) checkWishes(living set) error {
	options, err := readWords(r.Words)
	if err != nil {
		return err
	}
	if name := cmp.Or(options["name"], "Vitrine"); name != r.Name {
		return fmt.Errorf("the arguments of scripts/deploy name %s, and %s is to be restored: give those of %s after --",
			name, r.Name, r.Name)
	}
	if r.At.IsZero() || r.At.After(r.Clock.Now()) {
		return errors.New("say the instant that the tables return to, a past one, as in --at 2026-01-31T08:00:00Z")
	}
	if r.Bucket != "" && r.Bucket != living.Bucket && r.Files == nil {
		return fmt.Errorf("the bucket %s is to replace one that was lost: say where its files come from", r.Bucket)
	}
	return nil
}

// prefix is what the names of restored tables begin with. The recovery role may change no others.
func (r Restore) prefix() string { return r.Name + "-restore-" }

var stamped = regexp.MustCompile(`^\d{8}T\d{6}Z`)

// refuseSecond refuses if a restore is under way that this journal does not know. Its tables are younger than those
// that the deployment runs on; older ones are what it ran on before.
func (w *work) refuseSecond(ctx context.Context) error {
	living := stamped.FindString(strings.TrimPrefix(w.Living.Core, w.prefix()))
	pages := dynamodb.NewListTablesPaginator(w.DynamoDB, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, name := range page.TableNames {
			rest, ours := strings.CutPrefix(name, w.prefix())
			if made := stamped.FindString(rest); ours && made > living {
				return fmt.Errorf("another restore of %s has made the table %s: end it where it was begun, or delete its tables",
					w.Name, name)
			}
		}
	}
	return nil
}

func (w *work) tables() Tables { return Tables{w.DynamoDB, w.Clock} }

// findHistory looks up where core and events can be restored from.
func (w *work) findHistory(ctx context.Context) error {
	for _, want := range dynamo.Definitions(w.Living.Tables)[:2] {
		name := *want.TableName
		d, err := w.tables().describe(ctx, name)
		if err != nil {
			return err
		}
		if d == nil {
			err = w.findBackup(ctx, name)
		} else {
			err = errors.Join(w.owned(ctx, d, want), w.checkWindow(ctx, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// owned refuses a living table that is not of this deployment.
func (w *work) owned(ctx context.Context, d *types.TableDescription, want *dynamodb.CreateTableInput) error {
	if err := ours(d, want); err != nil {
		return err
	}
	out, err := w.DynamoDB.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: d.TableArn})
	if err != nil {
		return err
	}
	for _, tag := range out.Tags {
		if aws.ToString(tag.Key) == nameTag && aws.ToString(tag.Value) == w.Name {
			return nil
		}
	}
	return fmt.Errorf("the table %s is none of %s: it lacks the tag %s=%s", *want.TableName, w.Name, nameTag, w.Name)
}

// checkWindow refuses an instant to which a table cannot be restored.
func (w *work) checkWindow(ctx context.Context, name string) error {
	out, err := w.DynamoDB.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return err
	}
	var p types.PointInTimeRecoveryDescription
	if d := out.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil {
		p = *d.PointInTimeRecoveryDescription
	}
	from, to := aws.ToTime(p.EarliestRestorableDateTime), aws.ToTime(p.LatestRestorableDateTime)
	switch at := w.Instant.Format(time.RFC3339); {
	case p.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled:
		return fmt.Errorf("%s has no point-in-time recovery, so that no earlier state of it exists", name)
	case w.Instant.Before(from):
		return fmt.Errorf("%s cannot return to %s: its history begins %s", name, at, from.UTC().Format(time.RFC3339))
	case w.Instant.After(to):
		return fmt.Errorf("%s cannot return to %s yet: its history reaches to %s; wait some minutes, or choose that instant",
			name, at, to.UTC().Format(time.RFC3339))
	}
	return nil
}

// findBackup looks up what DynamoDB kept of a table when it was deleted. That has one instant.
func (w *work) findBackup(ctx context.Context, name string) error {
	var newest types.BackupSummary
	in := &dynamodb.ListBackupsInput{TableName: &name, BackupType: types.BackupTypeFilterSystem}
	for {
		out, err := w.DynamoDB.ListBackups(ctx, in)
		if err != nil {
			return err
		}
		for _, b := range out.BackupSummaries {
			if b.BackupStatus == types.BackupStatusAvailable &&
				aws.ToTime(b.BackupCreationDateTime).After(aws.ToTime(newest.BackupCreationDateTime)) {
				newest = b
			}
		}
		if in.ExclusiveStartBackupArn = out.LastEvaluatedBackupArn; in.ExclusiveStartBackupArn == nil {
			break
		}
	}
	if newest.BackupArn == nil {
		return fmt.Errorf("the table %s is gone, and DynamoDB kept no backup of its deletion: restore an export", name)
	}
	ended := aws.ToTime(newest.BackupCreationDateTime).UTC().Truncate(time.Second)
	if name == w.Living.Core && !w.Instant.Equal(ended) {
		return fmt.Errorf("the table %s was deleted, and nothing but its last state is left: choose --at %s", name,
			ended.Format(time.RFC3339))
	}
	w.Backups[name] = *newest.BackupArn
	return nil
}

// findHot keeps the living table of counters, which no restore brings back. If it is lost, they begin anew.
func (w *work) findHot(ctx context.Context) error {
	d, err := w.tables().describe(ctx, w.Living.Hot)
	if err != nil {
		return err
	}
	if w.HotLost = d == nil; w.HotLost {
		return nil
	}
	w.Set.Hot = w.Living.Hot
	return w.owned(ctx, d, dynamo.Definitions(w.Living.Tables)[2])
}
