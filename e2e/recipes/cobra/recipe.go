// SPDX-License-Identifier: Apache-2.0

package cobra

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/setup"
	"github.com/spf13/cobra"
)

// Command returns the root of a program whose commands have a flag --log-level,
// a logger in their context and an event each.
func Command(open setup.ConfigSource) *cobra.Command {
	var level string
	root := &cobra.Command{Use: "shop", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().
		StringVar(&level, "log-level", "", "the lowest level that is written, as in warn,db=debug")
	root.AddCommand(
		run(&cobra.Command{Use: "import FILE", Args: cobra.ExactArgs(1)}, open, &level, imports))
	return root
}

// run makes c call f with a logger, and write its event.
func run(
	c *cobra.Command, open setup.ConfigSource, level *string,
	f func(ctx context.Context, args []string) error,
) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		log, err := setup.Open(open, setup.FromEnv("NIB"), setup.Config{Level: *level})
		if err != nil {
			return err
		}
		defer log.Close()
		var policy *request.Policy
		return policy.Run(c.Context(), log.Logger, c.CommandPath(),
			func(ctx context.Context) error { return f(ctx, args) })
	}
	return c
}

func imports(ctx context.Context, args []string) error {
	request.AddAttrs(ctx, slog.String("file", args[0]))
	nib.FromContext(ctx).Debug().Msg("reading")
	if args[0] == "-" {
		return errors.New("standard input is empty")
	}
	return nil
}
