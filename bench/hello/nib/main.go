// SPDX-License-Identifier: Apache-2.0

// Command nib writes one line through nib, for the size of its binary and the
// time of its package initialisation.
package main

import (
	"os"

	"github.com/nib-log/nib"
)

func main() {
	nib.New(os.Stdout).Info().Str("to", "world").Msg("hello")
}
