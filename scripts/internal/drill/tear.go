package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/event"
)

// tornWithin is how far apart the instants of two tables may be that are brought back each by itself.
const tornWithin = 2 * time.Second

// tear takes parts of transactions out of the copy, as if its tables were not of one instant.
func tear(ctx context.Context, r *round) error {
	scratch := ""
	fill := func(folder string) error {
		scratch = folder
		return copies.Snapshot(ctx, r.backup.Dir, folder)
	}
	err := copies.Scratch(ctx, r.folder, fill, func(e *engines.Engines) error {
		if err := tearTables(ctx, (&crowd.Site{Engines: e}).Deployment(), r.backup.At); err != nil {
			return err
		}
		return copies.Snapshot(ctx, scratch, r.folder)
	})
	if err != nil {
		return err
	}
	return replaceDatabase(&r.backup, filepath.Join(r.folder, filepath.Base(r.backup.Database())))
}

// tearTables removes drafts and half of the events of the moments around an instant.
func tearTables(ctx context.Context, d invariant.Deployment, instant time.Time) error {
	drafts, err := recentDrafts(ctx, d, instant)
	if err != nil {
		return err
	}
	told := 0
	events, err := found(ctx, d, d.Tables.Events, func(i rows.Item) bool {
		at, _, _ := strings.Cut(i.Text("sk"), "#")
		millis, _ := strconv.ParseInt(at, 10, 64)
		action := event.Action(i.Text("action"))
		if (action != event.ArtifactPublished && action != event.ArtifactCreated) || !recent(millis, instant) {
			return false
		}
		told++
		return told%2 == 1
	})
	if err != nil {
		return err
	}
	if len(drafts)+len(events) == 0 {
		return errors.New("nothing was written while the copy was taken, so that there is nothing to tear")
	}
	return errors.Join(remove(ctx, d, d.Tables.Core, drafts), remove(ctx, d, d.Tables.Events, events))
}

// remove deletes items of a table.
func remove(ctx context.Context, d invariant.Deployment, table string, items []rows.Item) (err error) {
	for _, i := range items {
		err = errors.Join(err, d.Rows().Remove(ctx, table, i.Key()))
	}
	return err
}

// recentDrafts returns the drafts of a moment that their artifacts name. Where a table has a later write, it has the
// earlier ones.
func recentDrafts(ctx context.Context, d invariant.Deployment, instant time.Time) ([]rows.Item, error) {
	named := map[string]bool{}
	drafts, err := found(ctx, d, d.Tables.Core, func(i rows.Item) bool {
		if draft := i.Text("draft"); i.Text("status") == "active" && draft != "" {
			named[draft] = true
		}
		return i.Text("status") == "draft" && recent(i.Number("created"), instant)
	})
	return slices.DeleteFunc(drafts, func(i rows.Item) bool { return !named[strings.TrimPrefix(i.Text("sk"), "R#")] }), err
}

// recent reports whether a time in milliseconds is near an instant.
func recent(millis int64, instant time.Time) bool {
	return time.UnixMilli(millis).Sub(instant).Abs() < tornWithin
}

// found returns the items of a table that match.
func found(ctx context.Context, d invariant.Deployment, table string, matches func(rows.Item) bool) (all []rows.Item, err error) {
	for i, err := range d.Rows().Scan(ctx, table) {
		if err != nil {
			return nil, fmt.Errorf("scan %s: %w", table, err)
		}
		if matches(i) {
			all = append(all, i)
		}
	}
	return all, nil
}

// replaceDatabase puts another database into a copy, and says so in its manifest.
func replaceDatabase(c *copies.Copy, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.Rename(file, c.Database()); err != nil {
		return err
	}
	c.DatabaseFile.Size, c.DatabaseFile.SHA256 = int64(len(text)), wire.Digest(text)
	manifest, err := json.Marshal(c.Manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, "copy.json"), manifest, 0o600)
}
