// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of allocs. New makes a command that
// another program can take in as one of its own.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/report"
)

// Exit codes.
const (
	Clean   = 0
	Worse   = 1
	Failure = 2
)

// errWorse makes the exit code 1; all other errors make it 2.
var errWorse = errors.New("more is allocated than is allowed")

// Run executes one command line and returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := New()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return Clean
	case errors.Is(err, errWorse):
		return Worse
	}
	fmt.Fprintf(stderr, "allocs: %v\n", err)
	return Failure
}

// New returns the command.
func New() *cobra.Command {
	o := check.Options{LogCalls: true}
	var bench, tests, dir string
	cmd := &cobra.Command{
		Use:           "allocs [packages]",
		Short:         "Tell which lines allocate, why, on which Go releases, and how to stop it",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	f := cmd.Flags()
	f.StringVarP(&dir, "dir", "C", ".", "directory of the module")
	f.StringSliceVar(&o.Releases, "go", nil, "Go releases, such as 1.24,1.27 (default: the one in use)")
	f.StringSliceVar(&o.Arch, "goarch", nil, "architectures, such as amd64,arm64")
	f.StringArrayVar(&o.Roots, "root", nil, "function to look at, such as example.com/m.(*T).Method")
	f.StringVar(&bench, "bench", ".", "benchmarks to measure (\"\" for none)")
	f.StringVar(&tests, "tests", "", "tests to measure")
	f.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "for the runs of one package")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if o.Dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if o.Dir, err = filepath.EvalSymlinks(o.Dir); err != nil {
			return err
		}
		if o.Bench, err = expression(bench); err != nil {
			return err
		}
		if o.Tests, err = expression(tests); err != nil {
			return err
		}
		o.Patterns = args
		if len(args) == 0 {
			o.Patterns = []string{"./..."}
		}
		if cache, err := os.UserCacheDir(); err == nil {
			o.Cache = filepath.Join(cache, "nib-allocs")
		}
		if os.Getenv("ALLOCS_TRACE") != "" {
			began := time.Now()
			o.Progress = func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), time.Since(began).Round(time.Millisecond), what) }
		}
		r, err := check.Run(cmd.Context(), o)
		if err != nil {
			return err
		}
		return report.Text(cmd.OutOrStdout(), r)
	}
	return cmd
}

func expression(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}
