package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/local/engines"
)

// Snapshot writes the database of a data folder or of a copy, as it is at one instant, into another folder, and checks
// it there. Other processes may write the database meanwhile.
func Snapshot(ctx context.Context, from, to string) error {
	return runSnapshot(ctx, filepath.Join(from, databaseName), filepath.Join(to, databaseName))
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

// readTables gives a function the tables of a database. The file is copied into dir, because an engine writes to the
// file that it opens.
func readTables(ctx context.Context, database, dir string, read func(*dynamodb.Client) error) error {
	fill := func(to string) error {
		_, err := copyFile(database, filepath.Join(to, databaseName))
		return err
	}
	return Scratch(ctx, dir, fill, func(e *engines.Engines) error { return read(e.DynamoDBClient()) })
}

// Scratch gives a function engines on a new folder in dir, which fill fills before and which goes afterwards. An empty
// dir is that of temporary files.
func Scratch(
	ctx context.Context, dir string, fill func(folder string) error, use func(*engines.Engines) error,
) (err error) {
	scratch, err := os.MkdirTemp(dir, "vitrine-tables-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := fill(scratch); err != nil {
		return err
	}
	e, err := engines.Start(ctx, engines.Options{Dir: scratch, Own: true, Log: io.Discard})
	if err != nil {
		return fmt.Errorf("the copied tables cannot be opened: %w", err)
	}
	defer e.Kill()
	return use(e)
}
