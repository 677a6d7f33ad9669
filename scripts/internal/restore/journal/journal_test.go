package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	folder := t.TempDir()
	if j, err := Read(folder); j != nil || err != nil {
		t.Errorf("a folder without a journal has %v, %v", j, err)
	}
	at := time.Date(2026, 11, 29, 13, 5, 31, 0, time.UTC)
	j := &Journal{State: Begun, Copy: "c", At: at, Living: "l", Done: []string{"files"}}
	if err := j.Write(folder); err != nil {
		t.Fatal(err)
	}
	got, err := Read(folder)
	if err != nil || got.State != Begun || !got.At.Equal(at) || !got.Ended("files") || got.Ended("objects") {
		t.Errorf("got %+v, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(folder, File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestTheStateOfARestoreDecidesWhatRuns(t *testing.T) {
	for state, want := range map[State]struct{ serves, jobs bool }{
		Begun:    {false, false},
		Ready:    {false, false},
		Switched: {true, false},
		Open:     {true, true},
	} {
		folder := t.TempDir()
		if err := (&Journal{State: state}).Write(folder); err != nil {
			t.Fatal(err)
		}
		if err := Serves(folder); (err == nil) != want.serves {
			t.Errorf("%s: a stack starts or not: %v", state, err)
		}
		if JobsWait(folder) == want.jobs {
			t.Errorf("%s: jobs wait: %t", state, !want.jobs)
		}
	}
	if folder := t.TempDir(); Serves(folder) != nil || JobsWait(folder) {
		t.Error("a folder that is of no restore is held")
	}
}

func TestAJournalThatCannotBeReadStopsEverything(t *testing.T) {
	for text, says := range map[string]string{"{": "cannot be read", `{"format": 2}`: "newer version"} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		expect.Error(t, Serves(folder), says)
		if !JobsWait(folder) {
			t.Error("jobs run")
		}
	}
}
