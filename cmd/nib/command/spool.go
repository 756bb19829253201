// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/sink/spool"
)

func newSpool() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spool",
		Short: "Inspect spools, also while a service writes to them",
		Long: `Reads the directories of spools (package sink/spool). Nothing is changed, and a
service that has a spool open is not disturbed.

DIR is the directory of a spool, or a directory with spools in it or in its
subdirectories.`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSpoolLs(), newSpoolVerify(), newSpoolCat(), newSpoolRejected())
	return cmd
}

// inspectAll inspects all spools in some directories, and returns those that it
// can inspect together with the errors of the others. A spool that is deleted
// during the call is left out.
func inspectAll(roots []string) (views []*spool.View, err error) {
	var errs []error
	for _, root := range roots {
		dirs, err := spool.Find(root)
		errs = append(errs, err)
		if len(dirs) == 0 && err == nil {
			errs = append(errs, fmt.Errorf("there is no spool in %s", root))
		}
		for _, dir := range dirs {
			v, err := spool.Inspect(dir)
			switch {
			case err == nil:
				views = append(views, v)
			case !errors.Is(err, fs.ErrNotExist):
				errs = append(errs, err)
			}
		}
	}
	return views, errors.Join(errs...)
}

// withSpools calls do with the spools in some directories, and joins its error
// with the errors of the search. It does not call do if there is no spool.
func withSpools(roots []string, do func([]*spool.View) error) error {
	views, err := inspectAll(roots)
	if len(views) == 0 {
		return err
	}
	return errors.Join(err, do(views))
}
