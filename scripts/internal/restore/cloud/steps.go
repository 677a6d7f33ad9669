package cloud

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vitrine/scripts/internal/restore/repair"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/shared/adapter/dynamo"
)

// The steps of a restore, by what people read.
const (
	holdStep    = "stop the jobs, so that nothing more is deleted"
	tablesStep  = "restore the tables"
	fillStep    = "fill the bucket"
	replayStep  = "do again what was done since the instant"
	mendStep    = "make the restored set whole"
	drainStep   = "stop every function"
	lastStep    = "do again what was done until the functions stopped"
	markersStep = "take the delete markers away from files that the restored set needs"
	deployStep  = "deploy the functions on the restored set"
	verifyStep  = "check that every function names the restored set"
	openStep    = "let the functions serve again"
	wakeStep    = "wake the jobs"

	lastOfRun    = mendStep
	lastOfSwitch = verifyStep
)

// The tags that the stacks of a deployment give to what they make.
const (
	nameTag        = "vitrine"
	environmentTag = "vitrine-environment"
)

// preparing are the steps of Run. None of them changes the living set.
func (w *work) preparing() []step {
	all := []step{
		{holdStep, w.holdCalls(), w.hold},
		{tablesStep, w.tableCalls(), w.restoreTables},
	}
	if w.Filled {
		call := "s3 PutObject into " + w.Set.Bucket + " of each file that it lacks"
		all = append(all, step{fillStep, []string{call}, w.fill})
	}
	writes := "write " + w.Set.Core + " and " + w.Set.Events
	return append(all,
		step{replayStep, []string{
			writes, "end sessions, sign-ins, consents, codes and OAuth grants of the restored set",
		}, w.replay},
		step{mendStep, []string{writes + ": torn transactions, and archives that have to be made again"}, w.mend})
}

// switching are the steps of Switch. The service is down while they run.
func (w *work) switching() []step {
	return []step{
		{drainStep, w.drainCalls(), w.drain},
		{lastStep, []string{"write " + w.Set.Core + ", " + w.Set.Events + " and " + w.Set.Hot}, w.replayLast},
		{markersStep, []string{
			"s3 DeleteObjects of delete markers in " + w.Set.Bucket + ", each noted in the journal before",
		}, w.undelete},
		{deployStep, []string{"scripts/deploy " + strings.Join(w.adopting(), " ")}, w.deploy},
		{verifyStep, []string{"aws lambda get-function-configuration of each function"}, w.verify},
	}
}

// opening are the steps of Open.
func (w *work) opening(expire bool) []step {
	all := []step{{openStep, []string{"aws lambda put-function-concurrency or delete-function-concurrency: what each had"},
		w.release}}
	if expire {
		all = append(all, step{wakeStep, []string{"aws events enable-rule of each rule that was enabled"}, w.wake})
	}
	return all
}

// sources are the tables that are restored, and what of.
func (w *work) sources() map[string]Source {
	of := func(table string) Source { return Source{table, w.Instant, w.Backups[table]} }
	return map[string]Source{w.Set.Core: of(w.Living.Core), w.Set.Events: of(w.Living.Events)}
}

func (w *work) tableCalls() []string {
	var calls []string
	for _, in := range dynamo.Definitions(w.Set.Tables)[:2] {
		from := w.sources()[*in.TableName]
		how := "RestoreTableToPointInTime " + from.Table + " at " + from.At.Format(time.RFC3339)
		if from.Backup != "" {
			how = "RestoreTableFromBackup " + from.Backup
		}
		calls = append(calls, "dynamodb "+how+" as "+*in.TableName)
	}
	hot := "keep " + w.Set.Hot
	if w.HotLost {
		hot = "dynamodb CreateTable " + w.Set.Hot + ", empty: the one before is lost"
	}
	return append(calls, hot,
		"dynamodb UpdateTimeToLive, UpdateContinuousBackups, UpdateTable (protection, stream, ceilings), TagResource of each")
}

// restoreTables makes the tables of the restored set, side by side, because DynamoDB takes its time for each.
func (w *work) restoreTables(ctx context.Context) error {
	wanted, err := w.wanted()
	if err != nil {
		return err
	}
	sources := w.sources()
	for _, t := range wanted {
		if from, restored := sources[*t.TableName]; restored {
			err = w.tables().Restore(ctx, from, *t.TableName)
		} else {
			err = w.tables().Create(ctx, t.CreateTableInput)
		}
		if err != nil {
			return err
		}
	}
	for _, t := range wanted {
		if err := w.tables().Settle(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range wanted {
		if err := w.tables().Ready(ctx, *t.TableName); err != nil {
			return err
		}
		w.sayf("  %s is ready", *t.TableName)
	}
	return nil
}

// wanted returns what the tables of the restored set have that are made for it.
func (w *work) wanted() ([]Wanted, error) {
	options, err := readWords(w.Context)
	if err != nil {
		return nil, err
	}
	read, err := units(options, "table-read-units")
	if err != nil {
		return nil, err
	}
	write, err := units(options, "table-write-units")
	if err != nil {
		return nil, err
	}
	tags := map[string]string{nameTag: w.Name, environmentTag: "preview"}
	if options["environment"] != "" {
		tags[environmentTag] = options["environment"]
	}
	var all []Wanted
	for _, in := range dynamo.Definitions(w.Set.Tables) {
		if *in.TableName == w.Living.Hot {
			continue
		}
		all = append(all, Wanted{
			CreateTableInput: in,
			History:          *in.TableName != w.Set.Hot,
			Stream:           *in.TableName == w.Set.Core,
			Read:             read,
			Write:            write,
			Tags:             tags,
		})
	}
	return all, nil
}

// since plans what is to be done again. It returns nil while that is unknown, because the events were deleted and their
// table is not restored yet. A restored table of events has all of them, up to its deletion.
func (w *work) since(ctx context.Context) (*replay.Plan, error) {
	from := w.Living
	if w.Backups[w.Living.Events] != "" {
		from = w.Set
		if !w.did(tablesStep) {
			w.sayf("What was done since the instant is read from %s, once it is restored.", w.Set.Events)
			return nil, nil
		}
	}
	events, err := replay.Read(ctx, w.deployment(from), w.Instant)
	if err != nil {
		return nil, fmt.Errorf("the events of %s cannot be read: %w", from.Events, err)
	}
	plan, err := replay.New(events, w.Instant, w.journal.Except)
	return &plan, err
}

// replay does again what was done so far, and ends what people and programs were signed in with.
func (w *work) replay(ctx context.Context) error {
	plan, err := w.since(ctx)
	if err != nil {
		return err
	}
	plan.Print(w.Out)
	if err := plan.Decided(); err != nil {
		return err
	}
	err = w.report(
		func() (replay.Report, error) { return plan.Apply(ctx, w.deployment(w.Set), w.Clock.Now()) },
		func() (replay.Report, error) { return replay.EndCredentials(ctx, w.deployment(w.Set), w.Clock.Now()) },
	)
	if err == nil {
		w.Applied = plan.Newest(w.Clock.Now()) // finish stores it
	}
	return err
}

// mend repairs what the instant tore, and makes archives due that are not in the bucket.
func (w *work) mend(ctx context.Context) error {
	restored := repair.Set{
		Deployment: w.deployment(w.Set),
		Instant:    w.Instant,
		Now:        w.Clock.Now(),
		Out:        w.Out,
	}
	return errors.Join(restored.Torn(ctx), restored.Archives(ctx))
}

// replayLast does again what was done until the functions stopped, and records the restore. Decisions were made before:
// a refusal here would leave people unserved.
func (w *work) replayLast(ctx context.Context) error {
	plan, err := w.since(ctx)
	if err != nil {
		return err
	}
	late, to := plan.Since(w.Applied), w.deployment(w.Set)
	late.Print(w.Out)
	if err := w.report(func() (replay.Report, error) { return late.Apply(ctx, to, w.Clock.Now()) }); err != nil {
		return err
	}
	if !w.HotLost {
		forget := func() (replay.Report, error) {
			return replay.ForgetRetries(ctx, to, w.deployment(w.Living), w.Instant)
		}
		if err := w.report(forget); err != nil {
			return err
		}
	}
	return replay.Finish(ctx, to, w.Instant, w.Drained)
}

// report runs parts of the replay and says what they did.
func (w *work) report(parts ...func() (replay.Report, error)) error {
	for _, part := range parts {
		done, err := part()
		if err != nil {
			return err
		}
		for _, line := range done.Lines {
			w.sayf("  %s", line)
		}
	}
	return nil
}
