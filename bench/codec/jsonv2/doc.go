// SPDX-License-Identifier: Apache-2.0

// Command jsonv2 measures nib's codec beside encoding/json/v2, which a program
// has only if it is built with GOEXPERIMENT=jsonv2, or by a release of Go that
// has it anyway. The experiment also changes encoding/json. So this is a
// separate command, which nibbench builds and runs:
//
//	go run ./cmd/nibbench -run V2
//
// It prints its results in the Go benchmark format.
package main
