// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/relay"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/target"
)

// targetKinds are the kinds that a relay delivers to.
var targetKinds = []target.Spec{file.Kind, syslog.Kind, kafka.Kind, otlp.Kind, elastic.Kind}

// targetHelp describes the kinds of targets.
func targetHelp() string {
	var b strings.Builder
	for _, k := range targetKinds {
		b.WriteString("  " + strings.Join(k.Forms, ", ") + "\n      " + k.Doc + "\n")
		for _, s := range settings.Of(k.Params()) {
			if isFileOnly(k.Forms[0], s.Name) {
				continue
			}
			fmt.Fprintf(&b, "      %s\n", s.Help())
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// isFileOnly reports whether a parameter has no meaning for a file behind a
// spool, which is synced after each delivery.
func isFileOnly(target, param string) bool {
	return strings.HasPrefix(target, "file") &&
		slices.Contains([]string{"buffer", "delay", "sync"}, param)
}

const relayExample = `  nib relay /var/spool/app --to file:/var/log/app.log --once
  nib relay /var/spool --to syslog+relp://logs.example.org:2514
  nib relay /var/spool/app --to elastic+http://opensearch:9200/logs --rejected
  nib relay /var/spool --to file=file:/var/log/app.log --to kafka=kafka://kafka-0:9092,kafka-1:9092/logs`

func newRelay() *cobra.Command {
	var to []string
	var rejected bool
	c := relay.Config{Poll: time.Second}
	cmd := &cobra.Command{
		Use:   "relay DIR --to TARGET",
		Short: "Deliver the spools of dead processes",
		Long: `Delivers the spools in DIR whose processes have died: either as a sidecar,
which runs until SIGTERM or SIGINT, or with --once as a single pass after an
accident. DIR is the directory of a spool, or a directory with spools in it or
in its subdirectories.

The relay does not touch a spool that a process has open. It opens any other
spool after --grace, delivers it, and releases it when it is empty, or when the
destination has accepted nothing for --deliver-timeout, so that a restarted
service can open it. Records that the dead process has delivered are not
delivered again, provided that the target and its name are those of the service.
Records for destinations that are not given with --to stay in the spool.

With --rejected it delivers only what the destination has rejected, for example
after a mapping was fixed; nib spool rejected shows it. What is rejected again
goes back to its file.

Targets, as in the NIB_OUTPUT of a service:
` + targetHelp() + `

Exit codes: 0 everything is delivered, 1 the relay failed, 2 lines were rejected
or damaged, 3 lines are still pending.`,
		Example: relayExample,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			c.Root = dirs[0]
			c.Report = reporter(cmd.ErrOrStderr())
			run := relay.Run
			if rejected {
				run = relay.Rejected
			}
			return runRelay(cmd.Context(), cmd.OutOrStdout(), to, c, run)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&to, "to", nil,
		"`target` to deliver to, or NAME=TARGET with the name of the destination in the spools "+
			"(default: the only one there is); may be given several times")
	f.BoolVar(&c.Adopt, "adopt", false,
		"also take spools on network volumes, where locks cannot show whether their processes "+
			"have ended; use it only if they have")
	f.BoolVar(&rejected, "rejected", false,
		"deliver the records that the destination has rejected, from NAME.rejected, once; "+
			"services may have the spools open")
	f.BoolVar(&c.Once, "once", false, "exit when all spools are delivered")
	f.DurationVar(&c.Grace, "grace", 5*time.Second,
		"how long a spool must have no owner before it is taken")
	f.DurationVar(&c.DeliverTimeout, "deliver-timeout", 30*time.Second,
		"how long the destination may accept nothing before a spool is released")
	f.DurationVar(&c.Progress, "progress", 10*time.Second,
		"how often to report the progress of a long delivery")
	_ = cmd.MarkFlagRequired("to") // the flag exists
	return cmd
}

// reporter writes lines to w, one at a time. If w is standard error, a
// reader that has stopped or gone away neither stops nor ends the relay.
func reporter(w io.Writer) func(dir, format string, values ...any) {
	out := nib.WriterSink(w)
	return func(dir, format string, values ...any) {
		line := fmt.Sprintf("%s: %s\n", term.Name(dir), term.Line(fmt.Sprintf(format, values...)))
		_ = out.WriteRecord(&nib.Record{Line: []byte(line)}) // there is nowhere else to report to
	}
}

func runRelay(
	ctx context.Context, w io.Writer, to []string, c relay.Config,
	run func(context.Context, relay.Config) (relay.Counts, error),
) error {
	if c.Grace < 0 || c.DeliverTimeout <= 0 || c.Progress <= 0 {
		return errors.New(
			"--grace, --deliver-timeout and --progress must not be negative, and the last two " +
				"not 0")
	}
	for _, text := range to {
		t, err := relayTarget(text)
		if err != nil {
			return err
		}
		if t.Name == "" && len(to) > 1 {
			return errors.New("--to: with several targets each needs a name: --to NAME=TARGET")
		}
		same := func(o relay.Target) bool { return strings.EqualFold(o.Name, t.Name) }
		if slices.ContainsFunc(c.Targets, same) {
			return fmt.Errorf("--to: two targets have the name %q; each needs its own", t.Name)
		}
		c.Targets = append(c.Targets, t)
	}
	n, err := run(ctx, c)
	writeCounts(w, n)
	switch {
	case err != nil:
		return err
	case n.Pending > 0:
		return exit{3, fmt.Errorf("%s lines are still pending", term.Count(n.Pending))}
	case n.Rejected+n.Damaged > 0:
		return exit{2, fmt.Errorf("%s lines were rejected and %s are damaged",
			term.Count(n.Rejected), term.Count(n.Damaged))}
	}
	return nil
}

// relayTarget reads a target with or without a name before it.
func relayTarget(text string) (relay.Target, error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok || strings.ContainsAny(name, ":/?") {
		name, rest = "", text
	} else if err := (spool.Config{Name: name}).Validate(); err != nil || name == "" {
		return relay.Target{}, fmt.Errorf("--to: %q is not the name of a destination", name)
	}
	t, params, err := readTarget(rest)
	if err != nil {
		return relay.Target{}, fmt.Errorf("--to: %w", err)
	}
	// a parameter may have a key
	shown := target.Target{Scheme: t.Scheme, Host: t.Host, Path: t.Path}.String()
	open := func(mark []byte) (delivery.Destination, error) {
		t := t
		t.Mark = mark
		d, err := params.Open(t)
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", shown, err)
		}
		return d, nil
	}
	return relay.Target{Name: name, Text: shown, Open: open}, nil
}

// readTarget reads a target, and checks all of it.
func readTarget(text string) (t target.Target, params target.Params, err error) {
	if list, _ := settings.SplitTargets(text); len(list) > 1 {
		return t, nil, errors.New("one --to for each target; a comma in a path is written %2C")
	}
	t, params, err = target.Parse(text, targetKinds)
	for _, p := range t.Params {
		if isFileOnly(t.Scheme, p[0]) {
			return t, nil, fmt.Errorf("%s is not for a file behind a spool", p[0])
		}
	}
	return t, params, err
}

func writeCounts(w io.Writer, n relay.Counts) {
	t := term.Table{W: w, S: term.StyleFor(w)}
	t.Row("spools", term.Count(n.Spools), fmt.Sprintf("taken; %d are in use", n.InUse))
	t.Row("delivered", term.Count(n.Delivered), "accepted by the destination")
	t.Verdict("rejected", n.Rejected)
	t.Verdict("damaged", n.Damaged)
	t.Row("unfinished", term.Count(n.Unfinished), "numbers whose calls had not returned")
	t.Verdict("pending", n.Pending)
}
