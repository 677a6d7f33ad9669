package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/event"
)

// past is what the living folder tells of the time since the instant of the copy.
type past struct {
	events []event.Event
	gap    string      // why events may be missing; empty: they are all there
	used   []rows.Item // items of tokens and nonces that were used and may not be used again
}

// count returns how many events are of after an instant. Those of the minutes before are read as well, because an event
// has the time at which its request began.
func (p past) count(instant time.Time) (n int) {
	for _, e := range p.events {
		if !e.At.Before(instant) {
			n++
		}
	}
	return n
}

// readLiving reads the living folder, whether a stack runs on it or not. known is the set of the copy, by which a
// folder of another deployment is recognised.
func (w *work) readLiving(ctx context.Context, known invariant.Deployment) (p past, err error) {
	err = w.withTables(ctx, w.Living, func(living invariant.Deployment) error {
		if p.gap, err = w.complete(ctx, living); err != nil || p.gap != "" {
			return err
		}
		if err := w.ours(ctx, living, known); err != nil {
			return err
		}
		if p.events, p.gap, err = w.readEvents(ctx, living, known); err != nil {
			return err
		}
		p.used, err = usedOnce(ctx, living)
		return err
	})
	if lost, ok := errors.AsType[*lostError](err); ok {
		return past{gap: lost.Error()}, nil
	}
	return p, err
}

// lostError means that the tables of a folder cannot be read.
type lostError struct{ why string }

func (e *lostError) Error() string { return e.why }

// withTables gives a function the tables of a data folder as they are at one instant.
func (w *work) withTables(ctx context.Context, data string, read func(invariant.Deployment) error) error {
	if _, err := os.Stat(filepath.Join(data, databaseName)); errors.Is(err, fs.ErrNotExist) {
		return &lostError{fmt.Sprintf("%s has no tables", data)}
	}
	if _, err := engines.BuildSnapshot(ctx, w.Out); err != nil {
		return err
	}
	snapshot := func(scratch string) error {
		err := copies.Snapshot(ctx, data, scratch)
		if err != nil && ctx.Err() == nil {
			return &lostError{fmt.Sprintf("the tables in %s cannot be read (%v)", data, err)}
		}
		return errors.Join(ctx.Err(), err)
	}
	return copies.Scratch(ctx, "", snapshot, func(e *engines.Engines) error { return read(w.deployment(e)) })
}

// complete returns why the tables do not tell the events, and an error if they are those of another program.
func (w *work) complete(ctx context.Context, living invariant.Deployment) (gap string, err error) {
	for _, table := range []string{living.Tables.Core, living.Tables.Events, living.Tables.Hot} {
		out, err := living.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
			gap = fmt.Sprintf("the table %s in %s is gone", table, w.Living)
			continue
		}
		if err != nil {
			return "", err
		}
		if key := out.Table.KeySchema; len(key) == 0 || aws.ToString(key[0].AttributeName) != "pk" {
			return "", fmt.Errorf("the table %s in %s is not one of Vitrine: name the right folder with --living", table,
				w.Living)
		}
	}
	return gap, nil
}

// readEvents returns the events since the instant. There is a gap if the newest event of the copy is not among those
// that are read, because the table must have been made anew since.
func (w *work) readEvents(ctx context.Context, living, known invariant.Deployment) ([]event.Event, string, error) {
	newest, err := newestEvent(ctx, known, w.instant())
	if err != nil {
		return nil, "", err
	}
	since := w.instant()
	if newest != nil && newest.At.Before(since) {
		since = newest.At
	}
	events, err := replay.Read(ctx, living, since)
	if err != nil {
		return nil, "", err
	}
	gap := ""
	same := func(e event.Event) bool { return e.ID == newest.ID }
	if newest != nil && !slices.ContainsFunc(events, same) {
		gap = fmt.Sprintf("the events of before the copy are gone from %s", w.Living)
	}
	from := w.instant().Add(-5 * time.Minute)
	return slices.DeleteFunc(events, func(e event.Event) bool { return e.At.Before(from) }), gap, nil
}

// newestEvent returns the newest event that a set has up to an instant, or nil.
func newestEvent(ctx context.Context, set invariant.Deployment, at time.Time) (*event.Event, error) {
	store := dynamo.New(set.DynamoDB, set.Tables).Events
	// a restored set has the later events, too, and this position is before them
	for after := (account.Position{At: at.Add(time.Millisecond), ID: "evt_"}); ; {
		page, next, more, err := store.List(ctx, account.Filter{}, at, after, 1)
		if err != nil || len(page) == 0 && !more {
			return nil, err
		}
		if len(page) > 0 {
			return &page[0], nil
		}
		after = next
	}
}

// once are the kinds of items in table hot that say that a token or a nonce was used.
var once = []string{"n:", "j:", "p:"}

// usedOnce returns what was used and may not be used again.
func usedOnce(ctx context.Context, living invariant.Deployment) (used []rows.Item, err error) {
	for i, err := range living.Rows().Scan(ctx, living.Tables.Hot) {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(once, func(kind string) bool { return strings.HasPrefix(i.Text("pk"), kind) }) {
			used = append(used, i)
		}
	}
	return used, nil
}

// carry stores in the set what was used since the copy, so that it is refused again.
func (w *work) carry(ctx context.Context, used []rows.Item) error {
	for _, i := range used {
		_, err := w.set.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.set.Tables.Hot, Item: i})
		if err != nil {
			return err
		}
	}
	return nil
}

// ours refuses the tables of another deployment: they know none of the workspaces of the copy, and the key rings beside
// them share no key with those of the copy.
func (w *work) ours(ctx context.Context, living, known invariant.Deployment) error {
	if w.related() {
		return nil
	}
	workspaces := 0
	for i, err := range known.Rows().Scan(ctx, known.Tables.Core) {
		if err != nil {
			return err
		}
		if !strings.HasPrefix(i.Text("pk"), "W#") || i.Text("sk") != "META" {
			continue
		}
		workspaces++
		if same, err := living.Rows().Get(ctx, rows.Key(i.Text("pk"), i.Text("sk"))); err != nil || same != nil {
			return err
		}
	}
	if workspaces == 0 {
		return nil
	}
	return fmt.Errorf("the data in %s is of another deployment than the copy: name the right folder with --living, or "+
		"one that does not exist if it is lost", w.Living)
}
