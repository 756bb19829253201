// SPDX-License-Identifier: Apache-2.0

// Package command holds the verbs of nib, one file each.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/term"
)

// Run executes one command line and returns the exit code of the process: 0, or
// after an error, which is written to stderr, 1 or a code in the help of the
// verb. SIGINT and SIGTERM end a verb early.
func Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, args, os.Stdin, stdout, stderr)
}

// run executes one command line until ctx ends.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // for nil it would take os.Args
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		var e exit
		isExit := errors.As(err, &e)
		if isExit {
			err = e.err
		}
		for _, e := range parts(err) {
			fmt.Fprintf(stderr, "nib: %s\n", term.Line(e.Error()))
		}
		if isExit {
			return e.code
		}
		return 1
	}
	return 0
}

// An exit is an error with its own exit code. Without an error, nothing is
// written.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string { return e.err.Error() }
func (e exit) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "nib",
		Short:         "Read logs, inspect and deliver spools, and find allocations",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("nib {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newAllocs(), newCat(), newMCP(), newRelay(), newSpool(), newStat(), newTail(), newVersion(),
		newView(),
	)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" { // on its own, it succeeds without such a command
			c.Args = func(cmd *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return noSuchCommand(of, rest)
			}
		}
	}
	return root
}

// noSuchCommand returns an error if there are arguments, for a command that has
// subcommands only. The error of cobra has several lines.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		return fmt.Errorf("%s; did you mean %s?", text, strings.Join(names, " or "))
	}
	return fmt.Errorf("%s; see %s --help", text, cmd.CommandPath())
}

// parts returns the errors that errors.Join has joined.
func parts(err error) (list []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		list = append(list, parts(e)...)
	}
	return list
}
