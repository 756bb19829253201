// SPDX-License-Identifier: Apache-2.0

// Helloslog logs one line with log/slog.
package main

import (
	"log/slog"
	"os"
)

func main() { slog.New(slog.NewJSONHandler(os.Stdout, nil)).Info("hello", "to", "world") }
