// SPDX-License-Identifier: Apache-2.0

//go:build !race && !invariants

package main

// exactMallocs is true where counts of mallocs mean something.
const exactMallocs = true
