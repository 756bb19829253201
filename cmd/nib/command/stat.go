// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
)

// statFlags are the flags that select the counts of nib stat and how it shows
// them.
type statFlags struct {
	by, of  []string
	top     int
	bytes   int // at most; 0 is no bound
	json    bool
	against string
}

func newStat() *cobra.Command {
	var s selectionFlags
	var o statFlags
	cmd := &cobra.Command{
		Use:   "stat [FILE…]",
		Short: "Count log lines by fields and over time, with percentiles and frequent messages",
		Long: `Counts the selected lines of logs: over time, by the values of fields, and by
message, in which numbers, addresses, quoted texts and words that vary are a
star. --against compares the messages with another file or range: which are new,
gone, or at least twice or half as frequent by three standard deviations, with
both rates. With --percentiles, also the percentiles of numbers, to one percent;
durations written as text are milliseconds. What --top and --max-bytes leave out
is counted. Memory does not grow with the logs: what is above 10,000 different
values or messages is counted as (others).

` + sourcesHelp + `

` + queryHelp + `

Exit codes: 0 a line was selected, 1 none was, 2 something went wrong, 130
interrupted.`,
		Example: `  nib stat app.log
  nib stat --by path,status --percentiles took -l warn 'app.log*'
  nib stat --since -10m --against -2h..-1h app.log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.top < 1 {
				return exit{2, errors.New("--top must be positive")}
			}
			if o.bytes < 0 {
				return exit{2, errors.New("--max-bytes must not be negative")}
			}
			return catExit(cmd, runStat(cmd, args, &s, &o))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{"level"}, "count by the values of these `fields`")
	f.StringSliceVar(&o.of, "percentiles", nil, "show the percentiles of these `fields`")
	f.IntVar(&o.top, "top", 10, "show this `number` of groups and messages")
	f.IntVar(&o.bytes, "max-bytes", 0,
		"write at most this `number` of bytes: as many groups and messages as fit")
	f.StringVar(&o.against, "against", "",
		"compare the messages with a `file`, or with a range of time in the same logs: FROM..UNTIL")
	f.BoolVar(&o.json, "json", false, "write JSON")
	s.add(cmd)
	return cmd
}

func runStat(cmd *cobra.Command, args []string, s *selectionFlags, o *statFlags) error {
	sel, sources, findErr := s.find(cmd, args, false)
	if len(sources) == 0 {
		return findErr
	}
	sum, err := logs.Summarize(cmd.Context(), sources, sel, o.by, o.of)
	var c *comparison
	if o.against != "" {
		var e error
		if c, e = o.compare(cmd, args, *s, sum); e != nil {
			return errors.Join(findErr, err, e)
		}
	}
	w := cmd.OutOrStdout()
	text, fitErr := o.fit(func(top tops) ([]byte, error) {
		if o.json {
			return o.object(sum, c, top)
		}
		var text bytes.Buffer
		o.write(&text, term.StyleFor(w), sum, sel.Zone, top.own)
		if c != nil {
			c.write(&text, term.StyleFor(w), o.against, top.against)
		}
		return text.Bytes(), nil
	})
	_, writeErr := w.Write(text)
	err = errors.Join(err, fitErr, quiet(writeErr))
	if !s.silent {
		reportCounts(cmd.ErrOrStderr(), sum.Counts, sel)
	}
	return matchExit(sum.Counts, errors.Join(findErr, err))
}

// tops are the numbers of groups and messages that are shown: own ones, and
// ones of the comparison.
type tops struct{ own, against int }

// fit renders as many groups and messages as --top and --max-bytes allow.
// Messages of the comparison are left out last.
func (o *statFlags) fit(render func(tops) ([]byte, error)) ([]byte, error) {
	text, err := render(tops{o.top, o.top})
	if o.bytes == 0 || len(text) <= o.bytes || err != nil {
		return text, err
	}
	shown := func(n int) tops { return tops{max(n-o.top, 0), min(n, o.top)} }
	n := sort.Search(2*o.top, func(n int) bool {
		text, err := render(shown(n + 1))
		return err != nil || len(text) > o.bytes
	})
	text, err = render(shown(n))
	if err == nil && len(text) > o.bytes {
		return nil, fmt.Errorf("--max-bytes: the counts alone need %d", len(text))
	}
	return text, err
}

func cut(list []logs.Group, n int) []logs.Group { return list[:min(n, len(list))] }

// statColumns is the width of the histogram.
const statColumns = 60

// write writes the summary for people.
func (o *statFlags) write(
	w io.Writer, s term.Style, sum *logs.Summary, zone *time.Location, top int,
) {
	fmt.Fprintf(w, "%s of %s lines\n", term.Count(sum.Counts.Matched), term.Count(sum.Counts.Lines))
	if !sum.First.IsZero() {
		const layout = "2006-01-02 15:04:05"
		all, warn, failed := sum.Sparklines(statColumns)
		fmt.Fprintf(w, "\n%s to %s, %s a column\n", sum.First.In(zone).Format(layout),
			sum.Last.In(zone).Format(layout),
			(sum.Last.Sub(sum.First) / statColumns).Round(time.Millisecond))
		for _, row := range []struct{ name, line string }{{"all", all}, {"warn", s.Warn(warn)},
			{"error", s.Bad(failed)}} {
			fmt.Fprintf(w, "  %-6s|%s|\n", row.name, row.line)
		}
		fmt.Fprintf(w, "         %s\n", timeAxis(sum.First.In(zone), sum.Last.In(zone)))
	}
	if len(sum.Groups) > 0 {
		fmt.Fprintln(w)
		writeRows(w, s, o.rows(cut(sum.Groups, top)))
		writeMore(w, len(sum.Groups)-top)
	}
	if len(sum.Patterns) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Bold("messages"))
		for _, p := range cut(sum.Patterns, top) {
			fmt.Fprintf(w, "  %11s  %s\n", term.Count(p.Count), term.Line(p.Values[0]))
		}
		writeMore(w, len(sum.Patterns)-top)
	}
}

// writeMore writes how many rows of a list are left out.
func writeMore(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "  and %s more\n", term.Count(n))
	}
}

// timeAxis returns the times of every quarter of the columns.
func timeAxis(first, last time.Time) string {
	layout, span := "15:04", last.Sub(first)
	switch {
	case span >= 24*time.Hour:
		layout = "01-02 15:04"
	case span < time.Hour:
		layout = "15:04:05"
	}
	var b strings.Builder
	for i := range time.Duration(4) {
		fmt.Fprintf(&b, "%-*s", statColumns/4, first.Add(span/4*i).Format(layout))
	}
	return strings.TrimRight(b.String(), " ")
}

// rows returns the table of the groups with its header.
func (o *statFlags) rows(groups []logs.Group) [][]string {
	header := append([]string{"lines"}, o.by...)
	for _, name := range o.of {
		header = append(header, name+" p50", "p90", "p99", "max")
	}
	rows := [][]string{header}
	for _, g := range groups {
		row := []string{term.Count(g.Count)}
		for i := range o.by {
			if i < len(g.Values) {
				row = append(row, term.Line(g.Values[i]))
			} else {
				row = append(row, "")
			}
		}
		for _, p := range g.Of {
			if p.Count == 0 {
				row = append(row, "-", "-", "-", "-")
				continue
			}
			for _, v := range []float64{p.P50, p.P90, p.P99, p.Max} {
				row = append(row, strconv.FormatFloat(v, 'g', 4, 64))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// writeRows aligns the columns of a table; the first row is its header.
func writeRows(w io.Writer, s term.Style, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				cell, pad = pad+cell, ""
			}
			b.WriteString("  " + cell + pad)
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = s.Bold(line)
		}
		fmt.Fprintln(w, line)
	}
}

// object returns the summary for programs, and the comparison unless it is nil.
func (o *statFlags) object(sum *logs.Summary, c *comparison, top tops) ([]byte, error) {
	type object = map[string]any
	groups, patterns := []object{}, []object{}
	for _, g := range cut(sum.Groups, top.own) {
		fields := object{}
		for i, name := range o.by {
			fields[name] = slices.Concat(g.Values, make([]string, len(o.by)))[i]
		}
		of := object{}
		for i, p := range g.Of {
			of[o.of[i]] = object{
				"count": p.Count, "p50": p.P50, "p90": p.P90, "p99": p.P99,
				"max": p.Max, "sum": p.Sum,
			}
		}
		groups = append(groups, object{"fields": fields, "lines": g.Count, "percentiles": of})
	}
	for _, p := range cut(sum.Patterns, top.own) {
		m := object{"message": p.Values[0], "lines": p.Count, "sample": o.sample(p.Sample)}
		if !p.First.IsZero() {
			m["first"], m["last"] = p.First.UTC(), p.Last.UTC()
		}
		patterns = append(patterns, m)
	}
	all := object{
		"lines": sum.Counts.Lines, "selected": sum.Counts.Matched,
		"groups": groups, "messages": patterns,
		"groups_left_out":   len(sum.Groups) - len(groups),
		"messages_left_out": len(sum.Patterns) - len(patterns),
	}
	if !sum.First.IsZero() {
		all["first"], all["last"] = sum.First.UTC(), sum.Last.UTC()
		columns := statColumns
		if o.bytes > 0 {
			columns = min(columns, 1+o.bytes/100) // about an eighth of the answer
		}
		over := object{"part_seconds": sum.Last.Sub(sum.First).Seconds() / float64(columns)}
		var lines, warnings, failures []uint64
		for _, r := range sum.Over(columns) {
			lines, warnings = append(lines, r.All), append(warnings, r.Warn)
			failures = append(failures, r.Error)
		}
		over["all"], over["warn"], over["error"] = lines, warnings, failures
		all["over_time"] = over
	}
	if c != nil {
		all["against"] = c.object(top.against, o.sample)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var safe bytes.Buffer
	err = term.WriteJSON(&safe, text)
	return safe.Bytes(), err
}

// sample returns a line, or the beginning of it, so that with a bound several
// messages fit.
func (o *statFlags) sample(line string) string {
	if most := o.bytes / 16; o.bytes > 0 && len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
