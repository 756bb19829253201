// SPDX-License-Identifier: Apache-2.0

// Package e2e tries what allocs writes with the programs it is written for: the
// page in a real browser, the SARIF against its published schema. It is a
// separate module so that allocs does not require what this needs.
//
//	go test ./sarif
//	NIB_E2E=short go test -v ./page   # needs chromium: apt-get install chromium
package e2e
