// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the output of allocs with the programs that read it: the
// page in a real browser, the SARIF against its published schema. It is a
// separate module so that allocs does not have its dependencies.
//
//	go test ./sarif
//	NIB_E2E=short go test -v ./page   # needs chromium: apt-get install chromium
package e2e
