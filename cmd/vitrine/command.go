package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
)

// execute runs the command that the arguments name. Errors of cobra itself become usage failures.
func (a *app) execute(ctx context.Context) error {
	root := a.root()
	root.SetArgs(a.args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return nil
	}
	if done, ok := errors.AsType[commandError](err); ok {
		return done.err
	}
	return a.usage(root, err)
}

// action runs a command with its arguments.
type action func(ctx context.Context, args []string) error

// command returns a command whose name is the first word of its use.
func (a *app) command(use, short, guide string, args cobra.PositionalArgs, do action) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Long:  guide,
		Args:  args,
		RunE:  a.runE(do),
	}
}

// exactly accepts n arguments. what describes them in failures.
func exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// between accepts least to most arguments. what describes them in failures.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			return fmt.Errorf("%s takes %s, but was given %s", commandName(cmd), what, screen.Count(n, "argument"))
		}
		return nil
	}
}

// commandName returns the words that name a command, without the name of the program.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// commandError wraps the error of a command, to distinguish it from cobra's own errors.
type commandError struct{ err error }

func (e commandError) Error() string { return e.err.Error() }
func (e commandError) Unwrap() error { return e.err }

// runE adapts a command to cobra.
func (a *app) runE(do action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.open()
		err := rejectEmpty(cmd.Flags())
		if err == nil {
			err = do(cmd.Context(), args)
		}
		if err != nil {
			return commandError{err}
		}
		a.noteNewer(cmd.Context())
		return nil
	}
}

// rejectEmpty refuses a flag with an empty value. In a script that is usually an unset variable, which must not count
// as an omitted flag.
func rejectEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && !f.Hidden && err == nil {
			err = failure.New(failure.Invalid, failure.Usage, "--%s was given without a value", f.Name).
				Advise("Give it one, or omit the flag; an unset variable gives none.")
		}
	})
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "vitrine",
		Short:         "Publish files as Artifacts and share them by URL",
		Long:          guide,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs, // makes an unknown command an error
		RunE:          a.runE(func(context.Context, []string) error { return a.screen.Text(guide) }),
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetVersionTemplate("vitrine {{.Version}}\n")
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(a.helpCommand(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return a.flagError(cmd, err) })
	root.CompletionOptions.DisableDefaultCmd = true
	f := root.PersistentFlags()
	f.BoolVar(&a.flags.json, "json", false, "print one JSON object on stdout; errors are JSON on stderr")
	f.BoolVar(&a.flags.quiet, "quiet", false, "print only the first line of the result, and no notes")
	f.BoolVar(&a.flags.color, "color", false, "style the output even if stdout is not a terminal")
	f.BoolVar(&a.flags.noColor, "no-color", false, "plain text even if stdout is a terminal")
	f.BoolVar(&a.flags.insecureHTTP, "insecure-http", false, "allow plain HTTP to other machines")
	root.MarkFlagsMutuallyExclusive("color", "no-color")
	root.AddCommand(a.commands()...)
	return root
}

// helpCommand shows the guide of a command, like --help.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the guide to a command",
		Long:  guide,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("there is no command %q", strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

// help prints the guide of a command, or the usage of cobra's own commands, which have no guide.
func (a *app) help(cmd *cobra.Command, _ []string) {
	text := strings.TrimSpace(cmd.Long) + "\n"
	if !strings.HasPrefix(text, "vitrine ") {
		text += "\n" + cmd.UsageString()
	}
	_ = a.screen.Text(text) // cobra has no way to report the error
}

// usage returns the failure for arguments that cobra does not accept.
func (a *app) usage(root *cobra.Command, err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	f := failure.New(failure.Invalid, failure.Usage, "%s", message)
	if cmd, _, err := root.Find(a.args); err == nil && cmd != root && cmd.Name() != "help" {
		return f.Advise("See vitrine help %s.", commandName(cmd))
	}
	root.SuggestionsMinimumDistance = 2
	for _, arg := range a.args {
		if meant := root.SuggestionsFor(arg); len(meant) > 0 && meant[0] != arg && !strings.HasPrefix(arg, "-") {
			return f.Advise("Did you mean vitrine %s? vitrine help lists the commands.", meant[0])
		}
	}
	return f.Advise("vitrine help lists the commands, vitrine help COMMAND its flags.")
}

// flagError names all unknown flags at once, because cobra stops at the first.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	if unknown := unknownFlags(cmd, a.args); len(unknown) > 0 {
		message = "unknown flags: " + strings.Join(unknown, ", ")
	}
	message, _, _ = strings.Cut(message, ": strconv.") // the rest names a function of Go
	return commandError{failure.New(failure.Invalid, failure.Usage, "%s", message).
		Advise("%s --help shows the flags.", cmd.CommandPath())}
}

func unknownFlags(cmd *cobra.Command, args []string) (unknown []string) {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			continue
		}
		name, _, hasValue := strings.Cut(name, "=")
		switch f := cmd.Flags().Lookup(name); {
		case f == nil:
			unknown = append(unknown, "--"+name)
		case takesValue(f) && !hasValue:
			i++
		}
	}
	return unknown
}

func takesValue(f *pflag.Flag) bool { return f.NoOptDefVal == "" }
