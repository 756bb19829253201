// SPDX-License-Identifier: Apache-2.0

// Package tail follows a log that rotates at full speed with the nib command:
// each line arrives once and in order, or a loss is reported.
//
//	go test -v ./tail                          # one short run each
//	NIB_E2E=full go test -timeout 60m ./tail   # twenty runs of a million lines
package tail
