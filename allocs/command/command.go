// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of allocs. New makes a command that
// another program can add as a subcommand.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/report"
)

// Exit codes.
const (
	Clean   = 0 // nothing is worse than before, or than allowed
	Worse   = 1
	Failure = 2 // no verdict: the tool could not do its work
)

// ErrWorse is the error of a run that found more than is accepted. Its exit
// code is Worse; that of any other error is Failure.
var ErrWorse = errors.New("more is allocated than is accepted")

// ErrUnproven is the error of a run with functions that must not allocate, and
// that nothing shows to keep to it. Its exit code is Failure.
var ErrUnproven = errors.New("unproven: nothing shows that these functions keep to their limits")

// ErrBroken is the error of a run in which some packages do not build. The
// others have their verdicts. Its exit code is Failure.
var ErrBroken = errors.New("no verdict, as they do not build, for")

var errInterrupted = errors.New("interrupted")

// Run executes one command line and returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := New()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "allocs: %v\n", err)
	}
	return ExitCode(err)
}

// ExitCode returns the exit code for the error of the command.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return Clean
	case errors.Is(err, ErrWorse):
		return Worse
	}
	return Failure
}

// flags are the options as given on the command line.
type flags struct {
	check.Options
	dir, bench, baseline, html string
	json, accept, plain        bool
	noCache                    bool
}

// New returns the command. Its RunE returns ErrWorse when the gate fails.
func New() *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "allocs [packages]",
		Short: "Tell which lines allocate, why, on which Go releases, and how to stop it",
		Long: `allocs looks at every log call and every function that carries one of these
comments, and reports what is allocated below it, why, and what helps:

	//alloc:none          this function must not allocate
	//alloc:max=2         nor this one more than twice
	//alloc:ok reason     (on a line) what is allocated here is fine
	//alloc:cold          (on a function) it is not part of steady work

It runs the benchmarks of the packages to count exactly. The exit code is 0
when nothing is worse than in ` + baseline.Name + `, or, without that
file, than the comments allow; 1 when something is; 2 when there is no verdict.`,
		Version:       Version(module),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.SetVersionTemplate("allocs {{.Version}}\n")
	s := cmd.Flags()
	s.StringVarP(&f.dir, "dir", "C", ".", "directory of the module, or of a workspace")
	s.StringSliceVar(&f.Releases, "go", nil,
		"Go releases, such as 1.24,1.27 (default: the one in use)")
	s.StringArrayVar(&f.Roots, "root", nil,
		"function to look at, such as cache.Store.Get, (*Store[K, V]).Get, Get or "+
			"example.com/m/cache.New*")
	s.BoolVar(&f.LogCalls, "log-calls", true, "look at the log calls")
	s.StringVar(&f.bench, "bench", ".", "benchmarks to measure; \"\" for none")
	s.BoolVar(&f.Strict, "strict", false, "call a function unproven if anything in it is possible")
	s.BoolVar(&f.json, "json", false, "write JSON")
	s.BoolVar(&f.plain, "plain", false, "no colours, no progress")
	s.StringVar(&f.baseline, "baseline", "",
		"file of what is accepted (default: "+baseline.Name+" beside go.mod or go.work)")
	s.BoolVar(&f.accept, "accept", false, "write the baseline: accept everything as it is")
	s.BoolVar(&f.noCache, "no-cache", false, "measure again what is known from an earlier run")
	s.StringVar(&f.html, "html", "", "also write a page to look at")
	return cmd
}

// prepare turns the flags into options.
func (f *flags) prepare(args []string) (err error) {
	if f.Dir, err = filepath.Abs(f.dir); err != nil {
		return err
	}
	if f.Dir, err = filepath.EvalSymlinks(f.Dir); err != nil {
		return err
	}
	if f.bench != "" {
		if f.Bench, err = regexp.Compile(f.bench); err != nil {
			return err
		}
	}
	f.Patterns = args
	if len(args) == 0 {
		f.Patterns = []string{"./..."}
	}
	if cache, err := os.UserCacheDir(); err == nil && !f.noCache {
		f.Cache = filepath.Join(cache, "nib-allocs")
	}
	return nil
}

func (f *flags) run(cmd *cobra.Command, args []string) error {
	if err := f.prepare(args); err != nil {
		return err
	}
	r, err := f.check(cmd.Context(), cmd.ErrOrStderr())
	if cmd.Context().Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	d := findings.New(r)
	if err := broken(r); err != nil && f.accept {
		return err
	}
	outcome, err := f.gate(d)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.json {
		err = report.JSON(out, d)
	} else {
		color, _ := terminal(out)
		err = report.Text(out, d, outcome, color && !f.plain && os.Getenv("NO_COLOR") == "")
	}
	if err != nil {
		return err
	}
	if err := f.page(d, outcome); err != nil {
		return err
	}
	if err := errors.Join(broken(r), outcome.Err()); err != nil {
		return err
	}
	if len(outcome.Worse) > 0 {
		return fmt.Errorf("%w: %d", ErrWorse, len(outcome.Worse))
	}
	if n := len(outcome.Unproven); n > 0 {
		return fmt.Errorf("%w: %d", ErrUnproven, n)
	}
	return nil
}

// broken returns the error of a run in which some packages do not build, or
// nil.
func broken(r *check.Report) error {
	if len(r.Broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrBroken, strings.Join(slices.Sorted(maps.Keys(r.Broken)), ", "))
}

// check runs all stages, and shows their progress on w.
func (f *flags) check(ctx context.Context, w io.Writer) (*check.Report, error) {
	o := f.Options
	if !f.plain {
		show, end := progress(w)
		defer end()
		o.Progress = show
	}
	return check.Run(ctx, o)
}

// page writes the page if one is requested.
func (f *flags) page(d *findings.Document, o *baseline.Outcome) error {
	if f.html == "" {
		return nil
	}
	w, err := os.Create(f.html)
	if err != nil {
		return err
	}
	return errors.Join(report.HTML(w, d, o), w.Close())
}

// gate compares the document with the baseline, and writes the baseline if
// requested.
func (f *flags) gate(d *findings.Document) (*baseline.Outcome, error) {
	path := f.baseline
	if path == "" {
		path = filepath.Join(d.Dir, baseline.Name)
	}
	old, err := baseline.Load(path)
	if errors.Is(err, baseline.ErrDamaged) && f.accept {
		old, err = nil, nil // the file is written again
	}
	if err != nil {
		return nil, err
	}
	switch {
	case f.accept:
		old = old.With(baseline.Of(d), d)
		if err := old.Write(path); err != nil {
			return nil, err
		}
	case old == nil && f.baseline != "":
		return nil, fmt.Errorf("%s: there is no baseline; --accept makes one", path)
	}
	return baseline.Compare(old, d)
}

// terminal reports whether w is a terminal, and its width.
func terminal(w io.Writer) (bool, int) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false, 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return true, width
}
