// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/demo"
)

// newDemoWorker returns the verb with which the demo starts itself as the
// service.
func newDemoWorker() *cobra.Command {
	return &cobra.Command{
		Use:    demo.WorkerVerb,
		Short:  "The service of the demo, for the demo itself",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if code := demo.Worker(os.Stdin, os.Stdout); code != 0 {
				return exit{code, errors.New("the service of the demo has failed")}
			}
			return nil
		},
	}
}
