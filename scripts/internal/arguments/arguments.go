// Package arguments parses command lines whose flags may stand before, between and after other words.
package arguments

import (
	"errors"
	"flag"
)

// ErrUsage stands for a message that the flag package has printed already.
var ErrUsage = errors.New("usage")

// Parse sets the flags and returns the other words. Its errors are flag.ErrHelp and ErrUsage.
func Parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, ErrUsage
		}
		if flags.NArg() == 0 {
			return words, nil
		}
		words, args = append(words, flags.Arg(0)), flags.Args()[1:]
	}
}
