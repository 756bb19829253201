// SPDX-License-Identifier: Apache-2.0

// Command slog writes one line through log/slog, for the size of its binary and
// the time of its package initialisation.
package main

import (
	"context"
	"log/slog"
	"os"
)

func main() {
	l := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	l.LogAttrs(context.Background(), slog.LevelInfo, "hello", slog.String("to", "world"))
}
