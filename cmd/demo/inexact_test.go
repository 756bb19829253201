// SPDX-License-Identifier: Apache-2.0

//go:build race || invariants

package main

// exactMallocs is false where counts of mallocs mean nothing.
const exactMallocs = false
