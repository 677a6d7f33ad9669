package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/executable"
	"vitrine/scripts/testkit/expect"
)

func TestNothingStartsForAnUnknownCommit(t *testing.T) {
	o := short(t, "")
	o.commit = "nowhere"
	root := t.TempDir()
	executable.Write(t, filepath.Join(root, "go.mod"), "module vitrine\n")
	if output, err := exec.Command("git", "init", "--quiet", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Chdir(root)
	expect.Error(t, o.run(t.Context(), t.Output(), t.Output()), `"nowhere" is no commit of this repository`)
	leavesNothing(t)
}

// TestACommitIsBuiltAsItWas builds a program that has changed since, and leaves no worktree.
func TestACommitIsBuiltAsItWas(t *testing.T) {
	o := short(t, "")
	root, folder := t.TempDir(), t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		args = append([]string{"-C", root, "-c", "user.name=test", "-c", "user.email=test@localhost"}, args...)
		output, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, output)
		}
		return string(output)
	}
	source := filepath.Join(root, "scripts", "internal", "benchmark", "main.go")
	executable.Write(t, filepath.Join(root, "go.mod"), "module vitrine\n\ngo 1.26\n")
	executable.Write(t, source, "package main\n\nfunc main() { print(\"then\") }\n")
	git("init", "--quiet")
	git("add", "--all")
	git("commit", "--quiet", "--message", "then")
	executable.Write(t, source, "package main\n\nfunc main() { now() }\n")
	t.Chdir(root)
	o.commit = "HEAD"
	c := &comparison{options: o, sides: [2]*bench{nil, {stderr: t.Output()}}}
	if err := c.build(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(c.sides[1].program).CombinedOutput(); string(said) != "then" {
		t.Errorf("it says %q (%v)", said, err)
	}
	git("commit", "--quiet", "--all", "--message", "now")
	expect.Error(t, c.build(t.Context(), folder), "main.go:3:15: undefined: now")
	if list := git("worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("git knows worktrees: %s", list)
	}
}

// TestEveryRowIsMeasuredOnBothSides compares this program with itself. The baseline lacks the route of one row.
func TestEveryRowIsMeasuredOnBothSides(t *testing.T) {
	o := short(t, "^(content|publish-(lone|flow))")
	o.duration, o.inMemory, o.stock, o.rounds = time.Millisecond, true, 2, minRounds
	c := &comparison{options: o, names: [2]string{thisTree, "c011a7d"}}
	for n := range c.sides {
		side := o
		side.rows = func(b *bench, ctx context.Context) ([]row, error) {
			rows, err := b.flowRows(ctx)
			rows[0].work = asking(b.anyone, 200+n, "GET", "/healthz", nil)
			return rows, err
		}
		c.sides[n] = &bench{options: side, stderr: t.Output()}
	}
	if err := errors.Join(c.run(t.Context()), c.sides[0].stop(), c.sides[1].stop()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.report(&out)
	t.Log(out.String())
	// On a busy machine a side may answer nothing in a round of a millisecond.
	row := regexp.MustCompile(`(?m)^\| .* \| (1|16)( \| \d+){2}( \| \d+\.\d\d){5} \| ([\d.]+|NaN)–([\d.]+|\+Inf|NaN) ` +
		`\| (slower|unclear|faster|not slower) \|$`)
	if rows := row.FindAllString(out.String(), -1); len(rows) != 10 {
		t.Errorf("%d rows, expected 10", len(rows))
	}
	if want := "content-4k/1 is left out: c011a7d: content-4k/1: GET http://"; !strings.Contains(out.String(), want) {
		t.Errorf("the report lacks %q", want)
	}
	for _, p := range c.pairs[2:] {
		for n, rounds := range p.rounds {
			if len(rounds) != minRounds || rounds[0].used.Resident == 0 {
				t.Errorf("%s has rounds %+v on side %d", p.sides[0].id(), rounds, n)
			}
		}
	}
	leavesNothing(t)
}
