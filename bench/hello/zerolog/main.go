// SPDX-License-Identifier: Apache-2.0

// Command zerolog writes one line through zerolog, for the size of its binary
// and the time of its package initialisation.
package main

import (
	"os"

	"github.com/rs/zerolog"
)

func main() {
	l := zerolog.New(os.Stdout).With().Timestamp().Logger()
	l.Info().Str("to", "world").Msg("hello")
}
