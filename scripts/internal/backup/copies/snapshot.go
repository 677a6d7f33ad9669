package copies

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/local/engines"
)

// Snapshot writes the database of a data folder, as it is at one instant, into a new file, and checks that file. Other
// processes may write the database meanwhile.
func Snapshot(ctx context.Context, from, to string) error {
	return runSnapshot(ctx, filepath.Join(from, databaseName), to)
}

// runSnapshot runs the program that reads databases. One file is checked, two are source and copy.
func runSnapshot(ctx context.Context, files ...string) error {
	program, err := engines.BuildSnapshot(ctx, os.Stderr)
	if err != nil {
		return fmt.Errorf("the program that copies databases cannot be built: %w", err)
	}
	if output, err := exec.CommandContext(ctx, program, files...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}

// readTables gives a function the tables of a database. An engine opens a copy in a new folder inside dir, because it
// writes to the file that it opens.
func readTables(ctx context.Context, database, dir string, read func(*dynamodb.Client) error) (err error) {
	scratch, err := os.MkdirTemp(dir, "tables-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if _, err := copyFile(database, filepath.Join(scratch, databaseName)); err != nil {
		return err
	}
	e, err := engines.Start(ctx, engines.Options{Dir: scratch, Own: true, Log: io.Discard})
	if err != nil {
		return fmt.Errorf("the copied tables cannot be opened: %w", err)
	}
	defer e.Kill()
	return read(e.DynamoDBClient())
}
