// Command snapshot copies a sqlite database that another process writes, and checks copies.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite"
)

func main() {
	syscall.Umask(0o077) // a database holds what only its owner may read
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "snapshot:", err)
		os.Exit(1)
	}
}

// run copies a database and checks the copy, or checks a database that no process writes.
func run(ctx context.Context, args []string) error {
	switch len(args) {
	case 1:
		return check(ctx, args[0])
	case 2:
		if err := copyTo(ctx, args[0], args[1]); err != nil {
			return err
		}
		return check(ctx, args[1])
	}
	return errors.New("usage: snapshot FROM TO, or snapshot FILE to check one")
}

// busyTimeout is how long a statement waits for writers, in milliseconds.
const busyTimeout = "30000"

// open opens a database for reading only.
func open(file string, options url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	options.Set("mode", "ro")
	options.Set("_pragma", "busy_timeout("+busyTimeout+")")
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String())
}

// copyTo writes the state of one instant into a new file. The file reaches the disk before this returns.
func copyTo(ctx context.Context, from, to string) (err error) {
	db, err := open(from, url.Values{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	file, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// check reads every page of a database. It opens the file as one that cannot change, so that no file is made beside it.
func check(ctx context.Context, file string) (err error) {
	db, err := open(file, url.Values{"immutable": {"1"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return fmt.Errorf("%s is damaged: %w", file, err)
	}
	if found != "ok" {
		return fmt.Errorf("%s is damaged: %s", file, found)
	}
	return nil
}
