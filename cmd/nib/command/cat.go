// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/internal/linevalue"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/sink/console"
)

// sourcesHelp describes the arguments of cat, tail and stat.
const sourcesHelp = `FILE is a file, a pattern in quotes, the directory of a spool, - for standard
input (the default), or kafka://broker:9092/topic?since=-1h. Files may be
compressed (gzip, zstd, bzip2, xz, lz4) or an export of the journal. The rotated
files of a log are read as one, oldest first. Several logs are merged by time.

The format of each line is recognised: JSON of nib in any layout, zerolog, zap,
slog, logrus, pino and others, logfmt, and the text of common loggers, also as
the journal, Docker, Kubernetes, stern or syslog carry it. --keys names the keys
of a program that has others.`

// queryHelp describes the query language.
const queryHelp = `A query compares fields with values:

  level >= warn and took > 250ms and path ~ "^/api"
  status in (500, 502) or not exists user.id
  line contains timeout and time > 14:30

Operators: = != < <= > >=, ~ and !~ (regular expression), contains, in (…),
exists, and, or, not. The names time, level, message and line stand for what the
line has under whatever key; any other name is a key, or a path (user.id).
Durations are compared with texts (1.5s) and with numbers in the unit of the
logger.

Times are written as 2026-11-21T09:30:00Z, 2026-11-21 09:30, 14:30, yesterday,
or ago: -3h, 2d.`

func newCat() *cobra.Command {
	var s selectionFlags
	var f formFlags
	cmd := &cobra.Command{
		Use:   "cat [FILE…]",
		Short: "Show log lines: selected, merged by time, for people or as JSON, logfmt or CSV",
		Long: `Shows the lines of logs.

` + sourcesHelp + `

` + queryHelp + `

Lines are shown as by sink/console on a terminal, by way of a pager ($NIB_PAGER,
$PAGER, less), and as they are elsewhere; see --output.

With --lines or --max-bytes, the number of lines that are left out is reported
on standard error. With --newest, the last lines are shown, else the first ones.

Exit codes: 0 a line was selected, 1 none was, 2 something went wrong, 130
interrupted.`,
		Example: `  nib cat -l warn --since -1h /var/log/app/*.log
  nib cat -q 'took > 250ms and path ~ "^/api"' app.log.2.gz app.log.1 app.log
  nib cat --around 4bf92f3577b34da6 'logs/*.zst'
  kubectl logs deploy/shop | nib cat -f tenant=t-7 -o console
  nib cat -o csv --fields time,status,took app.log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return catExit(cmd, runCat(cmd, args, &s, &f))
		},
	}
	s.add(cmd)
	f.add(cmd)
	s.addShown(cmd)
	cmd.Flags().Uint64VarP(&s.limit.Lines, "lines", "n", 0,
		"show at most this `number` of selected lines")
	cmd.Flags().BoolVar(&s.limit.Newest, "newest", false,
		"with --lines or --max-bytes, show the last lines, not the first ones")
	cmd.Flags().BoolVar(&s.noIndex, "no-index", false,
		"read all of a file for --since and --until; else files of 16 MiB and more "+
			"get an index in the cache directory")
	return cmd
}

// catExit returns err with the exit code that grep uses.
func catExit(cmd *cobra.Command, err error) error {
	var e exit
	switch {
	case errors.As(err, &e) || err == nil:
		return err
	case errors.Is(err, context.Canceled) && cmd.Context().Err() != nil:
		return exit{130, nil}
	}
	return exit{2, err}
}

// selectionFlags are the flags that select lines.
type selectionFlags struct {
	level, since, until string
	fields              []string
	query, around       string
	keys                string
	context             int
	utc, silent         bool
	noIndex             bool
	limit               logs.Limit
}

// addShown adds the flags that select which lines around are shown, and how
// much at most.
func (s *selectionFlags) addShown(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&s.context, "context", "C", 0, "show this `number` of lines around each, too")
	f.IntVar(&s.limit.Bytes, "max-bytes", 0,
		"show lines of at most this `number` of bytes together, and report how many are left out")
}

func (s *selectionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.level, "level", "l", "", "only lines of this `level` and above")
	f.StringVar(&s.since, "since", "", "only lines from this `time` on")
	f.StringVar(&s.until, "until", "", "only lines before this `time`")
	f.StringArrayVarP(&s.fields, "field", "f", nil,
		"only lines with this field: `KEY=VALUE`, or with != < <= > >= ~ !~ in place of =; may "+
			"be given several times")
	f.StringVarP(&s.query, "query", "q", "", "only lines that this `query` selects")
	f.StringVar(&s.around, "around", "",
		"lines that have this `ID` anywhere, and the lines around them (--context 3)")
	f.StringVar(&s.keys, "keys", "", keysHelp)
	f.BoolVar(&s.utc, "utc", false, "times are shown and read in UTC, not in the local zone")
	f.BoolVarP(&s.silent, "silent", "s", false,
		"do not report lines that were left out on standard error")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit{2, err} })
	completeFields(cmd)
}

func (s *selectionFlags) zone() *time.Location {
	if s.utc {
		return time.UTC
	}
	return time.Local
}

// find returns the selection of the flags and the sources of the arguments.
// With an error, it still returns the sources that were found.
func (s *selectionFlags) find(
	cmd *cobra.Command, args []string, follow bool,
) (logs.Selection, []logs.Source, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	now := time.Now()
	sel, err := s.selection(now)
	if err != nil {
		return sel, nil, err
	}
	sources, err := logs.Find(args, cmd.InOrStdin(), follow, now)
	return sel, sources, err
}

// selection returns the Selection that the flags describe.
func (s *selectionFlags) selection(now time.Time) (sel logs.Selection, err error) {
	sel = logs.Selection{Context: s.context, Zone: s.zone(), Limit: s.limit}
	now = now.In(sel.Zone)
	var queries []*logread.Query
	var errs []error
	add := func(flag, query string) {
		q, err := logread.ParseQuery(query, now)
		if err != nil {
			errs = append(errs, queryError(flag, err))
			return
		}
		queries = append(queries, q)
	}
	w := &sel.Window
	if s.level != "" {
		name := strings.TrimSuffix(s.level, "+")
		add("--level", "level >= "+quoteValue(name))
		level, err := linevalue.LevelNamed(name)
		w.Least, w.HasLevel = level, err == nil // add returns the error
	}
	for _, t := range []struct {
		flag, op, text string
		at             *time.Time
	}{{"--since", ">=", s.since, &w.Since}, {"--until", "<", s.until, &w.Until}} {
		if t.text != "" {
			add(t.flag, "time "+t.op+" "+quoteValue(t.text))
			*t.at, _ = logread.ParseMoment(t.text, now) // add returns the error
		}
	}
	w.Exact = !s.silent && (w.HasLevel || len(s.fields) > 0 || s.query != "")
	sel.Keys, err = ownKeys(s.keys)
	errs = append(errs, err)                        // perhaps nil
	if !s.noIndex && sel.Keys == (logread.Keys{}) { // indexes have the times of the known keys
		sel.Indexes = lineindex.DefaultDir()
	}
	for _, f := range s.fields {
		query, ok := fieldQuery(f)
		if !ok {
			errs = append(errs, fmt.Errorf("--field: %q is not KEY=VALUE", f))
			continue
		}
		add("--field", query)
	}
	if s.query != "" {
		add("--query", s.query)
	}
	if s.around != "" {
		add("--around", "line contains "+quoteValue(s.around))
		if sel.Context == 0 {
			sel.Context = 3
		}
	}
	sel.Query = logread.And(queries...)
	return sel, errors.Join(append(errs, s.check(sel.Context))...)
}

// check returns an error if numbers are not possible.
func (s *selectionFlags) check(context int) error {
	switch {
	case s.limit.Bytes < 0:
		return errors.New("--max-bytes must not be negative")
	case s.context < 0:
		return errors.New("--context must not be negative")
	case s.limit.Newest && context > 0:
		return errors.New("--newest shows no lines around: use --since or --until " +
			"with --context and --around")
	}
	return nil
}

// fieldQuery makes a query of KEY=VALUE.
func fieldQuery(text string) (query string, ok bool) {
	i := strings.IndexAny(text, "=!<>~")
	if i <= 0 {
		return "", false
	}
	key, rest := text[:i], text[i:]
	for _, op := range []string{"!=", "<=", ">=", "!~", "=", "<", ">", "~"} {
		value, found := strings.CutPrefix(rest, op)
		if !found {
			continue
		}
		name := "`" + key + "`"
		if key == "level" || key == "time" || key == "message" || key == "line" {
			name = key
		}
		isWord := !strings.ContainsAny(strings.TrimSpace(value), " \t\n(),\"'`=<>~!&|")
		if strings.ContainsAny(op, "<>") && isWord { // a number, or a duration
			return name + " " + op + " " + value, !strings.Contains(key, "`")
		}
		return name + " " + op + " " + quoteValue(value), !strings.Contains(key, "`")
	}
	return "", false
}

// quoteValue quotes a text for a query.
func quoteValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// queryError shows where a query is wrong: each part of the error is a line.
func queryError(flag string, err error) error {
	var e *logread.QueryError
	if !errors.As(err, &e) {
		return err
	}
	if flag != "--query" && flag != "--field" {
		return fmt.Errorf("%s: %s", flag, e.Problem)
	}
	query, caret := e.Caret()
	return errors.Join(fmt.Errorf("%s: %s", flag, e.Problem), errors.New("  "+query),
		errors.New("  "+caret))
}

// formFlags are the flags that set how lines are written.
type formFlags struct {
	output, template, color string
	fields                  []string
	noPager                 bool
}

func (o *formFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "`form` of the lines: "+strings.Join(logs.Outputs,
		", ")+" (default console on a terminal, else raw)")
	f.StringSliceVar(&o.fields, "fields", nil, "only these `fields`, in this order")
	f.StringVarP(&o.template, "template", "t", "",
		"`text` with fields in braces in place of --output: '{time} {level} {user.id}: "+
			"{message}'; {time:15:04:05} has a layout of package time")
	f.StringVar(&o.color, "color", "auto",
		"auto, always or never; auto follows NO_COLOR and CLICOLOR_FORCE")
	f.BoolVar(&o.noPager, "no-pager", false, "write to the terminal without a pager")
	for name, list := range map[string][]string{
		"output": logs.Outputs, "color": {"auto", "always", "never"},
	} {
		complete := cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
		_ = cmd.RegisterFlagCompletionFunc(name, complete) // the flags exist
	}
}

// form decides how lines are written to w.
func (o *formFlags) form(w io.Writer, zone *time.Location) (f logs.Form, err error) {
	fd, isTerminal := term.Terminal(w)
	f = logs.Form{Output: o.output, Fields: o.fields, Template: o.template, Terminal: isTerminal}
	f.Console = console.Config{Color: console.ColorNever, TimeFormat: "01-02 15:04:05.000",
		TimeZone: zone, Width: -1}
	if f.Output == "" {
		f.Output = "raw"
		if isTerminal || len(o.fields) > 0 && o.color == "always" {
			f.Output = "console"
		}
	}
	if isTerminal {
		f.Console.Width = term.Width(fd)
		if n, ok := columns(); ok {
			f.Console.Width = n
		}
	}
	switch o.color {
	case "auto":
		if term.StyleFor(w).On {
			f.Console.Color = console.ColorAlways
		}
	case "always":
		f.Console.Color = console.ColorAlways
	case "never":
	default:
		return f, fmt.Errorf("--color: %q is none of auto, always, never", o.color)
	}
	return f, nil
}

func runCat(cmd *cobra.Command, args []string, s *selectionFlags, o *formFlags) error {
	sel, sources, findErr := s.find(cmd, args, false)
	if len(sources) == 0 {
		return findErr
	}
	form, err := o.form(cmd.OutOrStdout(), sel.Zone)
	if err != nil {
		return err
	}
	newRenderer, header, err := form.NewRenderer()
	if err != nil {
		return err
	}
	w, closePager := page(cmd.Context(), cmd.OutOrStdout(), o.noPager)
	counts, err := write(cmd.Context(), logs.Cat, w, header, sources, sel, newRenderer)
	err = errors.Join(quiet(err), closePager())
	if !s.silent {
		reportCounts(cmd.ErrOrStderr(), counts, sel)
	}
	return matchExit(counts, errors.Join(findErr, err))
}

// A copier writes the lines of sources: logs.Cat or logs.Follow.
type copier func(
	context.Context, io.Writer, []logs.Source, logs.Selection, func() logs.Renderer,
) (logs.Counts, error)

// write writes the header and the lines.
func write(
	ctx context.Context, lines copier, w io.Writer, header string, sources []logs.Source,
	sel logs.Selection, newRenderer func() logs.Renderer,
) (logs.Counts, error) {
	if header != "" {
		if _, err := io.WriteString(w, header); err != nil {
			return logs.Counts{}, err
		}
	}
	return lines(ctx, w, sources, sel, newRenderer)
}

// matchExit returns an error with exit code 1 if nothing was selected.
func matchExit(c logs.Counts, err error) error {
	if err == nil && c.Matched == 0 {
		return exit{1, nil}
	}
	return err
}

// reportCounts reports counts that a reader of the lines cannot see.
func reportCounts(w io.Writer, c logs.Counts, sel logs.Selection) {
	if c.Foreign > 0 && sel.Context == 0 {
		fmt.Fprintf(w, "nib: %s lines that are not of a log were left out\n", term.Count(c.Foreign))
	}
	for _, lack := range []struct {
		n    uint64
		name string
	}{{c.NoLevel, "level"}, {c.NoTime, "time"}} {
		if lack.n > 0 && sel.Context == 0 {
			fmt.Fprintf(w, "nib: %s lines without a %s were left out: "+
				"-q 'not exists %[2]s' selects such lines\n", term.Count(lack.n), lack.name)
		}
	}
	if c.Beyond > 0 {
		fmt.Fprintf(w, "nib: %s of %s selected lines were left out\n",
			term.Count(c.Beyond), term.Count(c.Matched))
	}
	if c.Around > 0 {
		fmt.Fprintf(w, "nib: %s lines around selected ones were left out\n", term.Count(c.Around))
	}
	if c.Holes > 0 {
		fmt.Fprintf(w, "nib: %s NUL bytes before lines were skipped\n", term.Count(c.Holes))
	}
	if c.Late > 0 {
		fmt.Fprintf(w, "nib: %s lines are older than the line before them in the same source\n",
			term.Count(c.Late))
	}
}

// columns returns the width that the environment sets.
func columns() (n int, ok bool) {
	_, err := fmt.Sscan(os.Getenv("COLUMNS"), &n)
	return n, err == nil && n > 0 && n < 10_000
}
