// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/logs"
)

func newTail() *cobra.Command {
	var s selectionFlags
	var f formFlags
	var lines int
	var noFollow bool
	cmd := &cobra.Command{
		Use:   "tail [FILE…]",
		Short: "Show the last lines of logs, and those that are added",
		Long: `Shows the last lines of logs that are selected, and goes on with lines that are
added, until it is interrupted. A file that is renamed, recreated or truncated is
followed, with the files that rotation made between two looks; what may be lost
is reported on standard error. A file that does not exist is waited for, and new
files of a pattern in quotes and new spools of a directory are picked up. Lines
of several logs that come within a tenth of a second are merged by time. Spools
are followed over restarts of their processes, each record once; records that
are delivered and deleted within a fifth of a second may be missed, and are
reported.

` + sourcesHelp + ` Compressed files are not followed.

` + queryHelp + `

Exit codes: 0 the input has ended, 1 and no line was selected, 2 something went
wrong, 130 interrupted.`,
		Example: `  nib tail -l warn app.log
  nib tail -n 100 -f tenant=t-7 '/var/log/shop/*.log' /var/spool/shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if lines < 0 {
				return exit{2, errors.New("--lines must not be negative")}
			}
			if s.limit.Bytes != 0 && !noFollow {
				return exit{2, errors.New("--max-bytes needs --no-follow")}
			}
			return catExit(cmd, runTail(cmd, args, &s, &f, lines, noFollow))
		},
	}
	s.add(cmd)
	f.add(cmd)
	s.addShown(cmd)
	cmd.Flags().BoolVar(&noFollow, "no-follow", false, "end after the last lines")
	_ = cmd.Flags().MarkHidden("no-pager") // tail has no pager
	cmd.Flags().IntVarP(&lines, "lines", "n", 10,
		"begin with the last `number` of lines of each file and spool")
	return cmd
}

func runTail(
	cmd *cobra.Command, args []string, s *selectionFlags, o *formFlags, n int, noFollow bool,
) error {
	sel, found, err := s.find(cmd, args, !noFollow)
	if err != nil {
		return err
	}
	report := reporter(cmd.ErrOrStderr())
	sel.Report = func(format string, args ...any) { report("nib", format, args...) }
	tail, lines := logs.Tail, logs.Follow
	if noFollow {
		tail, lines = logs.Last, logs.Cat
		sel.Limit.Newest = sel.Limit.Bytes > 0 && sel.Context == 0
	} else {
		sel.UseEvents(cmd.Context())
		sel.More = logs.Watch(args, found, sel)
	}
	sources, err := tail(found, sel, n)
	if err != nil {
		return err
	}
	form, err := o.form(cmd.OutOrStdout(), sel.Zone)
	if err != nil {
		return err
	}
	newRenderer, header, err := form.NewRenderer()
	if err != nil {
		return err
	}
	counts, err := write(
		cmd.Context(), lines, cmd.OutOrStdout(), header, sources, sel, newRenderer)
	if !s.silent {
		reportCounts(cmd.ErrOrStderr(), counts, sel)
	}
	return matchExit(counts, quiet(err))
}
