// SPDX-License-Identifier: Apache-2.0

// Command nib inspects and delivers spools and runs a demonstration; see nib
// help.
package main

import (
	"os"

	"github.com/nib-log/nib/cmd/nib/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
