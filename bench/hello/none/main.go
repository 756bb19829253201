// SPDX-License-Identifier: Apache-2.0

// Command none writes one line through package os alone, for the size of its
// binary and the time of its package initialisation.
package main

import "os"

func main() {
	_, _ = os.Stdout.WriteString(`{"message":"hello","to":"world"}` + "\n")
}
