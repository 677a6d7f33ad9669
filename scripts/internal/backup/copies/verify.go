package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Verify reads a copy through: each file has to have the size and the digest of the manifest, the database has to be
// whole, and each object that its tables need has to be in the copy.
func (c Copy) Verify(ctx context.Context, out io.Writer) error {
	faults := c.verifyFiles(ctx, out)
	if len(faults) == 0 {
		if err := c.verifyTables(ctx); err != nil {
			faults = append(faults, err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(faults) > 0 {
		return fmt.Errorf("the copy %s is damaged in %d places: %w: restore another one", c.Dir, len(faults),
			errors.Join(faults[:min(len(faults), maxFaults)]...))
	}
	fmt.Fprintf(out, "whole    %s with %d objects\n", c.Dir, len(c.Objects))
	return nil
}

// verifyFiles compares all files with the manifest.
func (c Copy) verifyFiles(ctx context.Context, out io.Writer) (faults []error) {
	compare := func(path string, want File) {
		got, err := describe(path)
		if err == nil && (got.Size != want.Size || got.SHA256 != want.SHA256) {
			err = fmt.Errorf("%s has %d bytes with the SHA-256 %s, the copy was made with %d bytes and %s", path, got.Size,
				got.SHA256, want.Size, want.SHA256)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	compare(c.Database(), c.DatabaseFile)
	for _, f := range c.Rings {
		compare(c.RingFile(f.Name), f)
	}
	for n, o := range c.Objects {
		if ctx.Err() != nil {
			break
		}
		if n > 0 && n%progressEvery == 0 {
			fmt.Fprintf(out, "read     %d objects of %d\n", n, len(c.Objects))
		}
		compare(c.ObjectFile(o.Key), File{Size: o.Size, SHA256: o.SHA256})
	}
	return faults
}

// verifyTables reads the database, and compares the objects that it needs with those of the copy.
func (c Copy) verifyTables(ctx context.Context) error {
	if err := runSnapshot(ctx, c.Database()); err != nil {
		return err
	}
	there := map[string]Object{}
	for _, o := range c.Objects {
		there[o.Key] = o
	}
	return readTables(ctx, c.Database(), os.TempDir(), func(client *dynamodb.Client) error {
		all, err := wantedBy(ctx, client, c.Tables)
		for _, w := range all {
			got, ok := there[w.Key]
			if w.needed && (!ok || got.SHA256 != w.SHA256) {
				return fmt.Errorf("the tables need the object %s, which the copy does not have", w.Key)
			}
		}
		return err
	})
}
