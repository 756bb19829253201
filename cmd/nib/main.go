// SPDX-License-Identifier: Apache-2.0

// Command nib reads logs, inspects and delivers spools, and finds allocations;
// see nib help.
package main

import (
	"os"

	"github.com/nib-log/nib/cmd/nib/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
