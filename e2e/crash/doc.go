// SPDX-License-Identifier: Apache-2.0

// Package crash kills processes that log through a spool into a file, and
// breaks the disk under them, as an operator sees it: from outside, through the
// public packages only. Each test is a row of the table in results.md.
//
//	go test -v ./crash                          # short counts
//	NIB_E2E=full go test -timeout 20m ./crash   # all counts
//
// NIB_SEED repeats a run; the seed is printed. NIB_E2E_TABLE names the file,
// from the root of the repository, in which the table of results is replaced. A
// row that cannot run here is reported with the reason; it never counts as
// passed.
//
// Children are this test binary again. They record in memory that they share
// with the test which calls have begun and which have returned, so that a
// SIGKILL does not lose the record.
package crash
