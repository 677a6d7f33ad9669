package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/scripts/internal/arguments"
	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/keyring"
)

// options are the parsed command line.
type options struct {
	step, ring   string
	file, secret string // where the ring is: one of them
	where        string // the option that said so, repeated in advice; empty: none
	urgency      keyring.Urgency
}

var steps = []string{"stage", "flip", "drop", "status"}

// parse reads the command line. Its errors are flag.ErrHelp, arguments.ErrUsage, or one sentence for people.
func parse(args []string, complaints io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("scripts/rotate", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.Usage = func() {
		fmt.Fprintf(complaints, "Usage: scripts/rotate %s %s [options]\n", strings.Join(steps, "|"),
			strings.Join(keyring.Names(), "|"))
		flags.PrintDefaults()
	}
	flags.StringVar(&o.file, "file", "", "`FILE` of the rings (default .vitrine/rings.json in the repository)")
	flags.StringVar(&o.secret, "secret", "", "`ARN` of the ring's secret in AWS Secrets Manager")
	emergency := flags.Bool("emergency", false, "wait for nothing: a key is known to others, and what it signed may end")
	unused := flags.Bool("confirm-unused", false, "drop keys whose signatures have no end: you know that none is in use")
	words, err := arguments.Parse(flags, args)
	if err != nil {
		return o, err
	}
	if o.step, o.ring, err = named(words); err != nil {
		return o, err
	}
	switch {
	case *emergency:
		o.urgency = keyring.Emergency
	case *unused:
		o.urgency = keyring.Unused
	}
	return o, o.check(*unused)
}

// named returns the step and the ring from the positional arguments.
func named(words []string) (step, ring string, err error) {
	if len(words) == 0 || !slices.Contains(steps, words[0]) {
		return "", "", fmt.Errorf("say what to do: %s", strings.Join(steps, ", "))
	}
	switch {
	case len(words) == 1 && words[0] == "status":
		return words[0], "", nil
	case len(words) != 2 || !slices.Contains(keyring.Names(), words[1]):
		return "", "", fmt.Errorf("name one ring after %s: %s", words[0], strings.Join(keyring.Names(), ", "))
	}
	return words[0], words[1], nil
}

// check refuses options that exclude each other, and completes the file.
func (o *options) check(unused bool) error {
	switch {
	case o.file != "" && o.secret != "":
		return errors.New("a ring is in a --file or in a --secret: name one of them")
	case o.secret != "" && o.ring == "":
		return errors.New("a secret holds one ring: name it")
	case unused && o.step != "drop":
		return errors.New("--confirm-unused is for drop")
	case o.secret != "":
		o.where = " --secret " + o.secret
		return o.belongs()
	case o.file != "":
		o.where = " --file " + o.file
		return nil
	}
	root, err := engines.Root()
	if err != nil {
		return err
	}
	o.file = filepath.Join(root, ".vitrine", "rings.json")
	return nil
}

// belongs refuses a secret whose name is that of another ring, because rings drain for different
// times.
func (o *options) belongs() error {
	_, name, _ := strings.Cut(o.secret, ":secret:")
	for _, other := range keyring.Names() {
		title := strings.ToUpper(other[:1]) + other[1:] + "Ring" // as in the stack Data
		if other != o.ring && strings.HasPrefix(name, title) {
			return fmt.Errorf("this secret holds the ring %s, not %s", other, o.ring)
		}
	}
	return nil
}
