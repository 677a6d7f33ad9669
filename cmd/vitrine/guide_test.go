package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot returns the program with all its commands.
func newRoot() *cobra.Command { return (&app{out: io.Discard, err: io.Discard}).root() }

// guides are the guides of the program and of its commands, by name.
func guides() map[string]string {
	root := newRoot()
	all := map[string]string{root.Name(): root.Long}
	for _, cmd := range root.Commands() {
		all[cmd.Name()] = cmd.Long
	}
	return all
}

func TestGuidesFitATerminalAndAContext(t *testing.T) {
	for name, text := range guides() {
		if len(text) > 5<<10 {
			t.Errorf("the guide of %s has %d bytes", name, len(text))
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 || strings.ContainsAny(line, "\t\x1b") {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

// TestGuidesHoldWorkingCommands parses every command in a guide with the real flags.
func TestGuidesHoldWorkingCommands(t *testing.T) {
	shown := 0
	for name, text := range guides() {
		for line := range strings.Lines(text) {
			_, command, ok := strings.Cut(line, "  vitrine ")
			if !ok {
				continue
			}
			command, _, _ = strings.Cut(strings.TrimSpace(command), "  ")
			shown++
			if err := parse(command); err != nil {
				t.Errorf("%s shows %q: %v", name, command, err)
			}
		}
	}
	if shown < 8 {
		t.Errorf("only %d commands were found", shown)
	}
}

// parse holds the rest of a command line against the commands and their flags.
func parse(command string) error {
	command, _, _ = strings.Cut(command, " < ") // the shell's part
	args := strings.Fields(strings.ReplaceAll(command, `"Weekly report"`, "Weekly"))
	root := newRoot()
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Args != nil {
		err = cmd.Args(cmd, cmd.Flags().Args())
	}
	if err == nil && cmd == root {
		err = errors.New("it names no command")
	}
	return err
}

func TestGuidesNameEveryFlagAndCommand(t *testing.T) {
	root := newRoot()
	for _, cmd := range root.Commands() {
		if !strings.Contains(guide, "\n  "+cmd.Name()) {
			t.Errorf("the guide does not name %s", cmd.Name())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(cmd.Long, "\n  --"+f.Name) {
				t.Errorf("the guide of %s does not name --%s", cmd.Name(), f.Name)
			}
		})
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(guide, "\n  --"+f.Name) {
			t.Errorf("the guide does not name --%s", f.Name)
		}
	})
}
