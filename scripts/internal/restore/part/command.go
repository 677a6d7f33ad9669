package part

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/id"
)

// Options are a parsed command line.
type Options struct {
	Artifact  id.Artifact  // one of both is empty
	Workspace id.Workspace // whose artifacts are put back
	Name      string       // of a deployment in AWS; empty: one machine
	At        time.Time    // to go back to, in AWS
	From      string       // folder of a copy
	Data      string       // living data folder
	Base      int          // of the ports of the stack on it; 0: what the stack says
	Plan      bool         // say what would be done, and change nothing
}

// ErrUsage stands for a message that the flag package has printed already.
var ErrUsage = errors.New("usage")

// The kinds of commands.
const (
	ArtifactCommand  = "artifact"
	WorkspaceCommand = "workspace"
)

// Parse reads the command line after the name of the command, which is the kind. Its errors are flag.ErrHelp, ErrUsage,
// or one sentence for people.
func Parse(kind string, args []string, stderr io.Writer) (o Options, err error) {
	flags := flag.NewFlagSet("scripts/restore "+kind, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "Usage: scripts/restore %s ID --from COPY [options]\n"+
			"   in AWS: scripts/restore %[1]s ID NAME --at TIME [--plan]\n"+
			"Puts back what was deleted since then, while everything else goes on.\n", kind)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.From, "from", "", "`COPY` that has it, a folder that scripts/backup made")
	flags.StringVar(&o.Data, "data", "", "`LIVING` data folder (default .vitrine in the repository)")
	flags.IntVar(&o.Base, "ports", 0, "`BASE` of the ports of the stack on the data (default: what the stack says)")
	flags.BoolVar(&o.Plan, "plan", false, "say what would be done, and change nothing")
	flags.Func("at", "`TIME` to go back to in AWS, such as 2026-01-31T10:00:00Z", func(text string) (err error) {
		o.At, err = time.Parse(time.RFC3339, text)
		return err
	})
	words, err := Words(flags, args)
	switch {
	case err != nil:
		return o, err
	case len(words) == 2 && o.From+o.Data == "" && o.Base == 0 && !o.At.IsZero():
		o.Name = words[1]
		return o, o.name(kind, words[0])
	case len(words) != 1 || !o.At.IsZero():
		return o, fmt.Errorf("name one %s: scripts/restore %s ID --from COPY, or in AWS ID NAME --at TIME", kind, kind)
	case o.From == "":
		return o, fmt.Errorf("name the copy that has it: scripts/restore %s %s --from COPY", kind, words[0])
	}
	if err := o.name(kind, words[0]); err != nil || o.Data != "" {
		return o, err
	}
	root, err := engines.Root()
	o.Data = filepath.Join(root, ".vitrine")
	return o, err
}

// name takes the id of the command line.
func (o *Options) name(kind, text string) (err error) {
	if kind == WorkspaceCommand {
		o.Workspace = id.Workspace(text)
		_, err = o.Workspace.Bits()
	} else {
		o.Artifact = id.Artifact(text)
		_, err = o.Artifact.Bits()
	}
	if err != nil {
		return fmt.Errorf("%q cannot be the id of the %s: copy it from the record of events, or from the address of its page",
			text, kind)
	}
	return nil
}

// Words parses flags before, between and after other words, and returns those. Its errors are flag.ErrHelp and ErrUsage.
func Words(flags *flag.FlagSet, args []string) (all []string, err error) {
	for rest := args; ; {
		if err := flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, ErrUsage
		}
		if flags.NArg() == 0 {
			return all, nil
		}
		all, rest = append(all, flags.Arg(0)), flags.Args()[1:]
	}
}

// Run puts back what the options name, on one machine.
func (o Options) Run(ctx context.Context, out io.Writer) (err error) {
	c, err := copies.Open(o.From)
	if err != nil {
		return err
	}
	m := machine{Options: o, copy: c, out: out}
	defer func() { err = errors.Join(err, m.close()) }()
	r, err := m.open(ctx)
	if err != nil {
		return err
	}
	return o.Do(ctx, r)
}

// Do puts back what the options name, or says what it would do.
func (o Options) Do(ctx context.Context, r Restore) error {
	switch {
	case o.Plan && o.Workspace != "":
		return r.Plans(ctx, o.Workspace)
	case o.Plan:
		p, err := r.Plan(ctx, o.Artifact)
		if err != nil || p.Refusal != nil {
			return cmp.Or(err, p.Refusal)
		}
		p.Print(r.Out)
		return nil
	case o.Workspace != "":
		return r.Workspace(ctx, o.Workspace)
	}
	return r.Artifact(ctx, o.Artifact)
}

// waiting says how long a restore waits where no stack runs: not at all, because its jobs do not run either.
func waiting(context.Context, time.Duration) error { return nil }
