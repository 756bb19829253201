// SPDX-License-Identifier: Apache-2.0

// Hello logs one line with nib.
package main

import (
	"os"

	"github.com/nib-log/nib"
)

func main() { nib.New(os.Stdout).Info().Str("to", "world").Msg("hello") }
