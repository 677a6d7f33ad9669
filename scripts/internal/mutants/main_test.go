package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/disk"
)

// tree is a module with a check that a test watches and one that none does.
var tree = map[string]string{
	"go.mod": "module example\n\ngo 1.26\n",
	"shared/limit/limit.go": `package limit

import "errors"

func Take(n int) error {
	if n > 3 {
		return errors.New("too many")
	}
	return nil
}

func Log(n int) (out []int) {
	if n < 0 {
		return nil
	}
	out = append(out, n)
	out = append(out, n+1)
	return out
}

func Both(n int) error {
	err := Take(n)
	if err != nil {
		return err
	}
	return nil
}
`,
	"shared/limit/limit_test.go": `package limit

import "testing"

func TestFourAreTooMany(t *testing.T) {
	if Take(3) != nil || Take(4) == nil {
		t.Error("the limit is not 3")
	}
}
`,
	"cmd/user/user.go": "package user\n\nimport \"example/shared/limit\"\n\nvar Use = limit.Both\n",
	"cmd/user/user_test.go": `package user

import "testing"

func TestTheErrorComesThrough(t *testing.T) {
	if Use(4) == nil {
		t.Error("no error")
	}
}
`,
	"scripts/journey/journey_test.go": "package journey\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n",
}

func plantTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	disk.Write(t, root, tree)
	return root
}

func TestEveryKindOfFaultIsFoundOnce(t *testing.T) {
	all, err := find(plantTree(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, f.Func+" "+f.Kind+" "+f.Text)
	}
	want := []string{
		"Take negated n > 3", "Take unchecked n > 3", "Take bound n > 3",
		"Log swapped if n < 0 {\n\t\treturn nil\n\t}\n\tout = append(out, n)",
		"Log swapped out = append(out, n)\n\tout = append(out, n+1)",
		"Log negated n < 0", "Log unchecked n < 0", "Log bound n < 0",
		"Both dropped err != nil",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestASeedChoosesTheSameFaultsAndAllKindsInTurn(t *testing.T) {
	root := plantTree(t)
	choice := func(seed uint64) (ids []string) {
		all, err := find(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range shuffled(all, seed) {
			ids = append(ids, f.Kind+f.Func)
		}
		return ids
	}
	first := choice(7)
	if again := choice(7); !slices.Equal(first, again) {
		t.Errorf("the same seed chose %q, then %q", first, again)
	}
	for i, kind := range kinds {
		if !strings.HasPrefix(first[i], kind) {
			t.Errorf("fault %d is %s, want the kind %s", i, first[i], kind)
		}
	}
}

func TestFaultsAreCaughtByTheirPackageThenByImportersAndTheRestIsTold(t *testing.T) {
	root := plantTree(t)
	t.Chdir(root)
	o := options{number: 100, seed: 1, found: filepath.Join(root, "found.jsonl")}
	var out bytes.Buffer
	if err := run(context.Background(), o, &out); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	for _, line := range []string{
		"bound shared/limit/limit.go:6 Take: caught by example/shared/limit TestFourAreTooMany",
		"dropped shared/limit/limit.go:23 Both: caught by example/cmd/user TestTheErrorComesThrough",
		"missed: unchecked shared/limit/limit.go:13 in Log",
		"9 faults, 4 caught, 5 missed",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("it did not print %q but\n%s", line, &out)
		}
	}

	// The same faults again, on a tree that has lost a test.
	if err := os.Remove("cmd/user/user_test.go"); err != nil {
		t.Fatal(err)
	}
	o.replay, o.found = o.found, filepath.Join(root, "again.jsonl")
	out.Reset()
	if err := run(context.Background(), o, &out); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	if want := "9 faults, 3 caught, 6 missed"; !strings.Contains(out.String(), want) {
		t.Errorf("it did not print %q but\n%s", want, &out)
	}
}

// waiter has a test that ends only where the check is in place, beside one that fails without it.
const waiter = `package limit

import "testing"

func TestWaits(t *testing.T) {
	t.Parallel()
	if Take(4) == nil {
		select {}
	}
}

func TestTells(t *testing.T) {
	t.Parallel()
	if Take(4) == nil {
		t.Error("no error")
	}
}
`

func TestTheFirstFailureEndsAllTests(t *testing.T) {
	root := plantTree(t)
	disk.Write(t, root, map[string]string{"shared/limit/limit_test.go": waiter})
	all, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f fault) bool { return f.Func == "Take" && f.Kind == "unchecked" })
	b := newBench(root, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // the limit of go test is longer
	defer cancel()
	caught, err := b.failing(ctx, all[i], []string{"./shared/..."})
	if want := "example/shared/limit TestTells"; caught != want || err != nil {
		t.Errorf("caught by %q (%v), want %q", caught, err, want)
	}
	if left, err := os.ReadDir(b.scratch); err != nil || len(left) != 2 { // the fault and its overlay
		t.Errorf("left are %v (%v)", left, err)
	}
}

func TestJourneysThatTakeLessComeFirst(t *testing.T) {
	b := newBench(t.TempDir(), t.TempDir())
	const passed = `{"Action":"pass","Package":"j/slow","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"j/slow","Elapsed":70.5}
{"Action":"pass","Package":"j/quick","Elapsed":7}
`
	if caught := b.firstFailure(strings.NewReader(passed)); caught != "" {
		t.Errorf("caught by %q", caught)
	}
	all := b.steps(nil, []string{"j/slow", "j/quick", "j/unknown"})
	got := all[len(all)-1].tests(fault{})
	if want := []string{"j/unknown", "j/quick", "j/slow"}; !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
}

func TestWhatWasNotTriedIsNotMissed(t *testing.T) {
	var out bytes.Buffer
	(&round{out: &out, faults: []fault{{Caught: "a test", Reached: "short"}, {Reached: "short"}, {}}}).report()
	if !strings.HasSuffix(out.String(), "3 faults, 1 caught, 1 missed, 1 not tried yet\n") {
		t.Error(out.String())
	}
}
