// SPDX-License-Identifier: Apache-2.0

// Package recipes tests docs/recipes.md: the code on that page is in the
// folders below, where it runs with the real libraries.
package recipes
