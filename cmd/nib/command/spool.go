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
		Short: "Look into spools, also while a service writes to them",
		Long: `Looks into the directories of spools (package sink/spool). Nothing is changed, and a
service that has a spool open is not disturbed.

DIR is the directory of a spool, or one that has spools in it, or in the directories in it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSpoolLs(), newSpoolVerify(), newSpoolCat())
	return cmd
}

// inspectAll looks at all spools in some directories. A spool that goes away
// meanwhile is left out.
func inspectAll(roots []string) (views []*spool.View, err error) {
	for _, root := range roots {
		dirs, err := spool.Find(root)
		if err != nil {
			return nil, err
		}
		if len(dirs) == 0 {
			return nil, fmt.Errorf("there is no spool in %s", root)
		}
		for _, dir := range dirs {
			v, err := spool.Inspect(dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			views = append(views, v)
		}
	}
	return views, nil
}
