// SPDX-License-Identifier: Apache-2.0

// Command phuslu writes one line through phuslu/log, for the size of its binary
// and the time of its package initialisation.
package main

import (
	"os"

	"github.com/phuslu/log"
)

func main() {
	l := log.Logger{Level: log.InfoLevel, Writer: log.IOWriter{Writer: os.Stdout}}
	l.Info().Str("to", "world").Msg("hello")
}
