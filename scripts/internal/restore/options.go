package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"vitrine/scripts/internal/arguments"
	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/machine"
	"vitrine/scripts/internal/restore/part"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/local/engines"
)

// options are the parsed command line.
type options struct {
	tool
	command            string
	part               part.Part // of a small restore
	name               string    // of a deployment in AWS; empty: one machine
	at                 time.Time
	words              []string // after --, for scripts/deploy
	bucket, files      string   // that replaces a lost one, and where its files come from
	from, data, living string   // on one machine
	base               int      // of the ports of the stack on data; 0: what the stack says
	except             string   // file; empty: none
	expire             bool
}

const usage = `Usage, on one machine:
  scripts/restore plan|run --from COPY --data NEW [--living DIR] [--except FILE]
  scripts/restore check|switch|abandon --data NEW
  scripts/restore open --data NEW [--expire]
  scripts/restore artifact|workspace ID --from COPY [--data DIR] [--ports BASE] [--plan]
In AWS:
  scripts/restore plan|run NAME --at TIME [--except FILE] [--bucket BUCKET --files s3://BUCKET|COPY]
    [-- -c NAME=VALUE …]
  scripts/restore check|switch|abandon NAME
  scripts/restore open NAME [--expire]
  scripts/restore artifact|workspace ID NAME --at TIME [--plan] [-- -c NAME=VALUE …]
The forms with an ID put back what was deleted since then, while everything else goes on.
`

// flags returns the flags, which set the options.
func (o *options) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("scripts/restore", flag.ContinueOnError)
	flags.SetOutput(o.complaints)
	flags.Usage = func() {
		fmt.Fprint(o.complaints, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.from, "from", "", "folder of the `COPY`, which scripts/backup made")
	flags.StringVar(&o.data, "data", "", "`NEW` data folder; of artifact and workspace the one in use (default .vitrine in "+
		"the repository)")
	flags.StringVar(&o.living, "living", "", "`DIR` of the data that is replaced, lost or not (default .vitrine in the "+
		"repository)")
	flags.IntVar(&o.base, "ports", 0, "`BASE` of the ports of the stack in use (default: what the stack says)")
	flags.StringVar(&o.except, "except", "", "`FILE` with what was done since and is not to be done again")
	flags.StringVar(&o.bucket, "bucket", "", "new and empty `BUCKET` in the place of one that was lost")
	flags.StringVar(&o.files, "files", "", "`COPY` or s3://BUCKET that has the files of a lost bucket")
	flags.BoolVar(&o.expire, "expire", false, "let the jobs run, which end what is past its time")
	flags.BoolVar(&o.part.Plan, "plan", false, "say what artifact or workspace would do, and change nothing")
	flags.Func("at", "`TIME` to go back to, such as 2026-01-31T10:00:00Z", func(text string) (err error) {
		o.at, err = time.Parse(time.RFC3339, text)
		return err
	})
	return flags
}

// parse reads the command line. Its errors are flag.ErrHelp, arguments.ErrUsage, or one sentence for people.
func parse(args []string, t tool) (options, error) {
	o := options{tool: t}
	if n := slices.Index(args, "--"); n >= 0 {
		args, o.words = args[:n], args[n+1:]
	}
	words, err := arguments.Parse(o.flags(), args)
	if err != nil {
		return o, err
	}
	if len(words) == 0 || commands[words[0]].do == nil {
		return o, errors.New("say what to do: plan, run, check, switch, open, abandon, artifact or workspace " +
			"(--help lists the forms)")
	}
	o.command, words = words[0], words[1:]
	if commands[o.command].small {
		if len(words) == 0 {
			return o, fmt.Errorf("name one %s by its id", o.command)
		}
		if err := o.part.Name(o.command, words[0]); err != nil {
			return o, err
		}
		words = words[1:]
	}
	if len(words) > 1 {
		return o, fmt.Errorf("%q is no option: see scripts/restore --help", words[1])
	}
	if len(words) == 1 {
		o.name = words[0]
	}
	return o, o.check(commands[o.command])
}

// check refuses options that do not belong to the command, and those that are missing.
func (o options) check(c command) error {
	aws := o.name != ""
	switch {
	case aws && (o.from+o.data+o.living != "" || o.base != 0):
		return fmt.Errorf("%s names a deployment in AWS, and --from, --data, --living and --ports are for one machine", o.name)
	case !aws && (!o.at.IsZero() || len(o.words) > 0 || o.bucket+o.files != ""):
		return errors.New("--at, --bucket, --files and words after -- are for AWS: name the deployment")
	case c.small && (o.living+o.except+o.bucket+o.files != "" || o.expire):
		return fmt.Errorf("%s takes --from, --data, --ports and --plan, or in AWS --at and --plan", o.command)
	case !c.small && (o.base != 0 || o.part.Plan):
		return errors.New("--ports and --plan are for artifact and workspace")
	case !c.begins && (o.from+o.living+o.except+o.bucket+o.files != "" || !o.at.IsZero()):
		return fmt.Errorf("%s goes on with what run was told: it takes no --from, --living, --at, --except, --bucket and "+
			"--files", o.command)
	case o.expire && o.command != "open":
		return errors.New("--expire is for open")
	case aws:
		return nil
	case o.data == "" && !c.small:
		return errors.New("name the new data folder: --data NEW")
	case c.begins && o.from == "":
		return errors.New("name the copy: --from COPY, or a deployment in AWS")
	}
	return nil
}

// exceptions reads the file of exceptions.
func (o options) exceptions() ([]replay.Exception, error) {
	if o.except == "" {
		return nil, nil
	}
	return replay.ReadExceptions(o.except)
}

// inUse returns a data folder, which is that of scripts/dev if none is named.
func inUse(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	root, err := engines.Root()
	return filepath.Join(root, ".vitrine"), err
}

// restore returns the big restore that the options are about.
func (o options) restore(ctx context.Context) (restore, error) {
	if o.name != "" {
		return o.cloud(ctx)
	}
	r := machine.Restore{
		Data:   o.data,
		Living: o.living,
		Now:    o.now,
		Out:    o.out,
	}
	var err error
	if r.Except, err = o.exceptions(); err != nil || o.from == "" {
		return r, err
	}
	if r.Living, err = inUse(o.living); err == nil {
		r.From, err = copies.Open(o.from)
	}
	return r, err
}
