// SPDX-License-Identifier: Apache-2.0

// Command allocs reports which lines of a Go module allocate; see allocs
// --help.
package main

import (
	"os"

	"github.com/nib-log/nib/allocs/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
}
