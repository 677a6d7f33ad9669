package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/testkit/invariant"
)

// tornWithin is how far apart the instants of two tables may be that are brought back each by itself.
const tornWithin = 2 * time.Second

// tear takes parts of transactions out of the copy, as if its tables were not of one instant.
func tear(ctx context.Context, r *round) error {
	scratch := &site{data: filepath.Join(r.folder, "torn")}
	if err := os.MkdirAll(scratch.data, 0o700); err != nil {
		return err
	}
	database := filepath.Join(scratch.data, filepath.Base(r.backup.Database()))
	whole, err := os.ReadFile(r.backup.Database())
	if err == nil {
		err = os.WriteFile(database, whole, 0o600)
	}
	if err == nil {
		err = scratch.startEngines(ctx)
	}
	if err == nil {
		err = tearTables(ctx, scratch.deployment(), r.backup.At)
	}
	if err = errors.Join(err, scratch.stop(ctx)); err != nil {
		return err
	}
	torn := filepath.Join(r.folder, "torn.db")
	if err := copies.Snapshot(ctx, scratch.data, torn); err != nil {
		return err
	}
	return replaceDatabase(&r.backup, torn)
}

// tearTables removes the drafts and half of the events of the moments around an instant.
func tearTables(ctx context.Context, d invariant.Deployment, instant time.Time) error {
	removed := 0
	recent := func(millis string) bool {
		n, _ := strconv.ParseInt(millis, 10, 64)
		return time.UnixMilli(n).Sub(instant).Abs() < tornWithin
	}
	err := eachItem(ctx, d, d.Tables.Core, func(i item) error {
		if !strings.HasPrefix(spelt(i["sk"]), "R#") || spelt(i["status"]) != "draft" || !recent(number(i["created"])) {
			return nil
		}
		removed++
		return remove(ctx, d, d.Tables.Core, i)
	})
	if err != nil {
		return err
	}
	every := 0
	err = eachItem(ctx, d, d.Tables.Events, func(i item) error {
		millis, _, _ := strings.Cut(spelt(i["sk"]), "#")
		told := spelt(i["action"]) == "artifact.published" || spelt(i["action"]) == "artifact.created"
		if !told || !recent(millis) {
			return nil
		}
		if every++; every%2 == 0 {
			return nil
		}
		removed++
		return remove(ctx, d, d.Tables.Events, i)
	})
	if err == nil && removed == 0 {
		err = errors.New("nothing was written while the copy was taken, so that there is nothing to tear")
	}
	return err
}

// eachItem calls do for every item of a table.
func eachItem(ctx context.Context, d invariant.Deployment, table string, do func(item) error) error {
	pages := dynamodb.NewScanPaginator(d.DynamoDB, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("scan %s: %w", table, err)
		}
		for _, i := range page.Items {
			if err := do(i); err != nil {
				return err
			}
		}
	}
	return nil
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
	sum := sha256.Sum256(text)
	c.DatabaseFile.Size, c.DatabaseFile.SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
	manifest, err := json.Marshal(c.Manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, "copy.json"), manifest, 0o600)
}
