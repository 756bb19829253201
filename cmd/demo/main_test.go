// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
)

// TestMain makes the test binary the service that the demo kills.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == WorkerVerb {
		os.Exit(Worker(os.Stdin, os.Stdout))
	}
	for _, name := range []string{"CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"} {
		_ = os.Unsetenv(name) // of the environment of the tests
	}
	os.Exit(m.Run())
}
