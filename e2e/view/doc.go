// SPDX-License-Identifier: Apache-2.0

// Package view opens the page of nib view in a real browser. It is a separate
// module so that nib does not require the packages that control the browser.
//
//	NIB_E2E=short go test -v .   # needs chromium: apt-get install chromium
//
// The pictures in docs are made by make pictures.
package view
