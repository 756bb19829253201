// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/spool"
)

func newSpoolCat() *cobra.Command {
	var level, since, until, numbers string
	c := selection{}
	cmd := &cobra.Command{
		Use:   "cat DIR…",
		Short: "Write the lines of spools to standard output",
		Long: `Writes the lines in spools to standard output, oldest first, one spool after the
other. Lines that all destinations have settled may already be deleted.

Exit codes: 0 all lines were written, 1 some are damaged or could not be read; all
readable lines are written.`,
		Example: `  nib spool cat /var/spool/app | jq .
  nib spool cat --pending kafka --level warn /var/spool/app
  nib spool cat --since 10m --until 2026-11-21T09:00:00Z /var/spool
  nib spool cat --seq 1000-1999 /var/spool/app`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if err := c.parse(level, since, until, numbers, time.Now()); err != nil {
				return err
			}
			return withSpools(dirs, func(views []*spool.View) error {
				return c.write(cmd.Context(), cmd.OutOrStdout(), views)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.pending, "pending", "",
		"only what the destination of this `name` has not settled")
	f.StringVar(&level, "level", "", "only lines of this `level` and above")
	f.StringVar(&since, "since", "",
		"only lines from this `time` on: 2026-11-21T09:30:00Z, 14:30, yesterday, or ago: 10m, 2d")
	f.StringVar(&until, "until", "", "only lines before this `time`")
	f.StringVar(&numbers, "seq", "", "only these `numbers`: 7, 7-, -7 or 7-9")
	return cmd
}

// A selection selects records.
type selection struct {
	pending      string
	level        nib.Level
	since, until time.Time // no bound if zero
	first, last  uint64    // numbers
}

func (c *selection) parse(level, since, until, numbers string, now time.Time) (err error) {
	c.level, c.since, c.until, c.first, c.last = math.MinInt, time.Time{}, time.Time{}, 0,
		math.MaxUint64
	if level != "" {
		if c.level, err = nib.ParseLevel(level); err != nil {
			return fmt.Errorf("--level: %w", err)
		}
	}
	for _, t := range []struct {
		name, text string
		to         *time.Time
	}{{"since", since, &c.since}, {"until", until, &c.until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = logread.ParseMoment(t.text, now); err != nil {
			return fmt.Errorf("--%s: %w", t.name, err)
		}
	}
	if numbers != "" {
		c.first, c.last, err = parseNumbers(numbers)
	}
	return err
}

func parseNumbers(text string) (first, last uint64, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, last = 0, math.MaxUint64
	if from != "" {
		first, err = strconv.ParseUint(from, 10, 64)
	}
	if err == nil && to != "" {
		last, err = strconv.ParseUint(to, 10, 64)
	}
	if err != nil || from == "" && to == "" || first > last {
		return 0, 0, fmt.Errorf("--seq: %q is none of 7, 7-, -7 and 7-9", text)
	}
	return first, last, nil
}

func (c *selection) has(r *nib.Record) bool {
	at := time.Unix(0, r.Time)
	return r.Level >= c.level && !at.Before(c.since) && (c.until.IsZero() || at.Before(c.until)) &&
		r.Seq >= c.first && r.Seq <= c.last
}

// records returns the records that may be selected.
func (c *selection) records(v *spool.View) iter.Seq2[nib.Record, spool.Gap] {
	if c.pending != "" {
		return v.Unsettled(c.pending)
	}
	return v.Records(c.first)
}

// write writes the selected lines. The reader may close the pipe at any time.
func (c *selection) write(ctx context.Context, w io.Writer, views []*spool.View) error {
	out, shown := bufio.NewWriterSize(w, 64<<10), shownOn(w)
	var unreadable uint64
	var errs []error
	for _, v := range views {
		if err := c.known(v); err != nil {
			errs = append(errs, err)
			continue
		}
		for r, g := range c.records(v) {
			switch {
			case ctx.Err() != nil:
				return errors.Join(quiet(out.Flush()), context.Cause(ctx))
			case g.Kind == "" && r.Seq > c.last:
			case g.Kind == "" && c.has(&r):
				if _, err := out.Write(shown(r.Line)); err != nil {
					return quiet(err)
				}
				continue
			case g.Kind == "", g.First > c.last,
				g.Kind == spool.GapUnfinished, g.Kind == spool.GapRemoved:
				continue
			default:
				unreadable += max(g.Numbers, 1)
				continue
			}
			break // past the last requested number
		}
	}
	if err := out.Flush(); err != nil {
		return quiet(err)
	}
	if unreadable > 0 {
		errs = append(errs,
			fmt.Errorf("%d lines are damaged or missing; see nib spool verify", unreadable))
	}
	return errors.Join(errs...)
}

// shownOn returns a function that returns a line as it is written to w:
// unchanged, unless w is a terminal, which a line must not control. The result
// is valid until the next call.
func shownOn(w io.Writer) func(line []byte) []byte {
	if _, ok := term.Terminal(w); !ok {
		return func(line []byte) []byte { return line }
	}
	form := logs.Form{Output: "raw", Terminal: true,
		Console: console.Config{Color: console.ColorNever, Width: -1}}
	newRenderer, _, _ := form.NewRenderer() // the form is valid
	var l logread.Line
	var buf []byte
	r := newRenderer()
	return func(line []byte) []byte {
		l.Reset(line)
		buf = r.Append(buf[:0], &l)
		return buf
	}
}

// known returns an error for an unknown destination, for which all records
// would be pending.
func (c *selection) known(v *spool.View) error {
	if c.pending == "" {
		return nil
	}
	var names []string
	for _, d := range v.Destinations {
		if d.Name == c.pending {
			return nil
		}
		names = append(names, d.Name)
	}
	return fmt.Errorf("%s has no destination %q (it has %q)", v.Dir, c.pending, names)
}

// quiet returns nil for the error of a pipe whose reader has gone.
func quiet(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
