package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"vitrine/scripts/local/engines"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// Ports are counted from a base: the hosts come first, the engines after them.
const (
	defaultBase = 8700
	maxBase     = 65535 - engines.S3Offset
)

// options are the parsed command line.
type options struct {
	base      int
	data      string // absolute; empty: data is discarded
	limitsOff bool
	cache     int64  // bytes of files and lists of files that the hosts keep in memory
	policy    string // of the deployment, as JSON with its logo inside; empty: the defaults
	shared    bool   // one origin has all artifacts
	lambda    bool   // hosts as Lambda functions behind a local API Gateway
}

// errUsage stands for a message that the flag package has printed already.
var errUsage = errors.New("usage")

// parse reads the command line. Its errors are flag.ErrHelp, errUsage, or one
// sentence for people.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("scripts/dev", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.base, "ports", defaultBase,
		"`BASE` of the ports: api BASE+1, upload +2, content +3, app +4, mcp +5, identity provider +6, DynamoDB +11, S3 +12")
	flags.StringVar(&o.data, "data", "", "`DIR` that keeps the data (default .vitrine in the repository)")
	memory := flags.Bool("memory", false, "keep nothing")
	rates := flags.String("limits", "on", "`on|off`: off lifts the rate limiters, for load tests")
	flags.Int64Var(&o.cache, "cache", limits.Default().Cache,
		"`BYTES` of files and lists of files that are kept in memory, 0 for none")
	file := flags.String("policy", "", "`FILE` with the policy of the deployment: who gets in, limits, name and so on")
	origins := flags.String("origins", "wildcard",
		"`wildcard|shared`: wildcard gives each artifact an origin of its own, which is {label}.localhost")
	flags.BoolVar(&o.lambda, "lambda", false, "run the Lambda functions behind the gateways of the synthesised templates")
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		err = errUsage
	}
	if err != nil {
		return o, err
	}
	o.limitsOff, o.shared = *rates == "off", *origins == "shared"
	if *file != "" {
		p, err := policy.Load(*file, policy.Deployment{})
		if err != nil {
			return o, err
		}
		o.policy = string(p.File)
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no option: see scripts/dev --help", flags.Arg(0))
	case *rates != "on" && *rates != "off":
		return o, fmt.Errorf("--limits is on or off, not %q", *rates)
	case *origins != "wildcard" && *origins != "shared":
		return o, fmt.Errorf("--origins is wildcard or shared, not %q", *origins)
	case o.cache < 0:
		return o, fmt.Errorf("--cache is a number of bytes or 0, not %d", o.cache)
	case o.base < 1 || o.base > maxBase:
		return o, fmt.Errorf("--ports %d leaves no room for the ports above it: choose a base from 1024 to %d", o.base,
			maxBase)
	case *memory && o.data != "":
		return o, errors.New("--memory keeps nothing and --data keeps everything: choose one")
	case *memory:
		return o, nil
	}
	return o.inFolder()
}

// inFolder completes the data folder.
func (o options) inFolder() (options, error) {
	if o.data == "" {
		root, err := engines.Root()
		if err != nil {
			return o, err
		}
		o.data = filepath.Join(root, ".vitrine")
	}
	var err error
	o.data, err = filepath.Abs(o.data)
	return o, err
}
