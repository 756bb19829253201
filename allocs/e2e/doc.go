// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the page of allocs in a real browser. It is a separate
// module so that allocs does not have its dependencies.
//
//	NIB_E2E=short go test -v ./page   # needs chromium: apt-get install chromium
package e2e
