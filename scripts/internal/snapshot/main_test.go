package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// database makes a database in the mode of the engine, whose file name has a character that URLs escape. It is open for
// writing until the test ends.
func database(t *testing.T) (file string, db *sql.DB) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "a?b#c%20.db")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(file), "a%3Fb%23c%2520.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{
		"PRAGMA journal_mode = WAL", "CREATE TABLE pairs (n INTEGER, text TEXT)", "CREATE INDEX texts ON pairs (text)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return file, db
}

// add writes two rows in one transaction.
func add(db *sql.DB, n int) error {
	_, err := db.Exec("INSERT INTO pairs VALUES (?, ?), (?, ?)", n, fmt.Sprintf("%0500d", n), n, fmt.Sprintf("%0500d", -n))
	return err
}

func TestACopyIsOneInstantBesideAWriter(t *testing.T) {
	file, db := database(t)
	begun, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		var err error
		for n := 0; err == nil; n++ {
			if n == 20 {
				close(begun)
			}
			select {
			case <-stop:
				ended <- nil
				return
			default:
				err = add(db, n)
			}
		}
		ended <- err
	}()
	<-begun
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := run(t.Context(), []string{file, to}); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	copied, err := open(to, map[string][]string{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	var rows, halves int
	err = copied.QueryRow("SELECT sum(c), sum(c <> 2) FROM (SELECT count(*) c FROM pairs GROUP BY n)").Scan(&rows, &halves)
	if err != nil || rows < 40 || halves != 0 {
		t.Errorf("%d rows, %d transactions of which a half is there, %v", rows, halves, err)
	}
}

func TestADamagedDatabaseIsFound(t *testing.T) {
	file, db := database(t)
	for n := range 200 {
		if err := add(db, n); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := run(t.Context(), []string{file, to}); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{to}); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	copy(text[page:], bytes.Repeat([]byte{0xff}, page)) // a page of a tree
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{to}); err == nil {
		t.Error("a page without sense is not found")
	}
	if left, err := filepath.Glob(to + "-*"); err != nil || len(left) > 0 {
		t.Errorf("checking left %v, %v", left, err)
	}
}

func TestWhatCannotBeCopiedIsRefused(t *testing.T) {
	dir := t.TempDir()
	file, _ := database(t)
	there := filepath.Join(dir, "there.db")
	if err := os.WriteFile(there, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"nothing":                    {},
		"three files":                {"a", "b", "c"},
		"a file that is missing":     {filepath.Join(dir, "none.db"), filepath.Join(dir, "copy.db")},
		"a copy over another file":   {file, there},
		"a file that is no database": {there},
	} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
