// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/relay"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/sink/spool"
)

func newSpoolRejected() *cobra.Command {
	return &cobra.Command{
		Use:   "rejected DIR…",
		Short: "Write the records that destinations have rejected, with the reasons",
		Long: `Writes the files NAME.rejected of spools: a JSON object for each record, with its
number, time, level, the reason and the line. nib relay --rejected delivers them
again.`,
		Example: `  nib spool rejected /var/spool/app | jq -r .reason | sort | uniq -c`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return withSpools(dirs, func(views []*spool.View) error {
				var errs []error
				for _, v := range views {
					files, err := relay.RejectedFiles(v.Dir)
					errs = append(errs, err)
					for _, name := range files {
						errs = append(errs, copyFile(cmd.OutOrStdout(), name))
					}
				}
				return errors.Join(errs...)
			})
		},
	}
}

// copyFile copies a file to w, if it exists.
func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, ok := term.Terminal(w); !ok {
		_, err = io.Copy(w, f)
		return quiet(err)
	}
	shown := shownOn(w)
	for l, err := range logread.Lines(f) {
		if err != nil {
			return err
		}
		if _, err := w.Write(shown(l.Bytes())); err != nil {
			return quiet(err)
		}
	}
	return nil
}
