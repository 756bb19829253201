// SPDX-License-Identifier: Apache-2.0

// Package seed selects the random cases of tests: the same ones for each run of
// a tree, so that a tree has one verdict, or others for each run.
package seed

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Of returns the seed that NIB_SEED names, and logs it. Without one it is 1;
// NIB_SEED=random selects another seed in each run. The Makefile derives
// NIB_SEED from the tree.
func Of(tb testing.TB) uint64 {
	tb.Helper()
	seed, err := parse(os.Getenv("NIB_SEED"))
	if err != nil {
		tb.Fatalf("NIB_SEED, want a number or \"random\": %v", err)
	}
	tb.Logf("NIB_SEED=%d", seed)
	return seed
}

// All reports whether tests should run all cases of an enumeration: whether
// NIB_SEED is "random". Otherwise a sample is enough.
func All() bool { return os.Getenv("NIB_SEED") == "random" }

// Sample returns a function that reports whether to run the next case of an
// enumeration: one of each n cases in a row, or in short mode one of each short
// cases, selected by the seed; all cases if [All] is true.
func Sample(tb testing.TB, n, short int) func() bool {
	tb.Helper()
	if testing.Short() {
		n = short
	}
	if All() {
		n = 1
	}
	random := mathrand.New(mathrand.NewPCG(Of(tb), uint64(n)))
	i, selected := 0, random.IntN(n)
	return func() bool {
		run := i == selected
		if i++; i == n {
			i, selected = 0, random.IntN(n)
		}
		return run
	}
}

func parse(text string) (uint64, error) {
	switch text {
	case "":
		return 1, nil
	case "random":
		var b [8]byte
		_, err := rand.Read(b[:])
		return binary.LittleEndian.Uint64(b[:]), err
	}
	return strconv.ParseUint(text, 10, 64)
}
