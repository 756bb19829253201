// SPDX-License-Identifier: Apache-2.0

// Package seed selects the random cases of tests: the same ones for each run of
// a tree, so that a tree has one verdict, or others for each run.
package seed

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/nib-log/nib/internal/invariants"
)

// fewer is how many times fewer cases short mode runs in a build with the
// checks of package invariants, where a case takes about ten times as long.
// Races and misuse do not depend on a value, so a case finds no more than its
// neighbours.
const fewer = 8

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
// NIB_SEED is "random" or NIB_E2E is "full", except in short mode, in which
// builds run that are slow or emulated. Otherwise a sample is enough. With
// NIB_E2E=full and a seed that was logged, all cases run once more.
func All() bool {
	return !testing.Short() && (os.Getenv("NIB_SEED") == "random" || os.Getenv("NIB_E2E") == "full")
}

// Sample returns a function that reports whether to run the next case of an
// enumeration: one of each n cases in a row, or in short mode one of each short
// cases, selected by the seed; all cases if [All] is true. Short mode with
// -race runs one of each 8*short cases. The first one is among the first four,
// so that a list shorter than a row has one as well.
func Sample(tb testing.TB, n, short int) func() bool {
	tb.Helper()
	n = oneOf(n, short)
	random := mathrand.New(mathrand.NewPCG(Of(tb), uint64(n)))
	i, selected := 0, random.IntN(min(n, 4))
	return func() bool {
		run := i == selected
		if i++; i == n {
			i, selected = 0, random.IntN(n)
		}
		return run
	}
}

// Some returns the elements of a list that a test tries: all, or in short mode
// as many as [Sample] selects, but at least one.
func Some[T any](tb testing.TB, short int, list []T) []T {
	tb.Helper()
	n := oneOf(1, short)
	if n == 1 {
		return list
	}
	list = slices.Clone(list)
	mathrand.New(mathrand.NewPCG(Of(tb), uint64(n))).Shuffle(len(list), func(i, j int) {
		list[i], list[j] = list[j], list[i]
	})
	return list[:(len(list)+n-1)/n]
}

// oneOf returns the number of cases for each case that runs.
func oneOf(n, short int) int {
	switch {
	case All():
		return 1
	case testing.Short() && invariants.Enabled:
		return fewer * short
	case testing.Short():
		return short
	}
	return n
}

// Times returns how many random cases to run: n, or short in short mode; all if
// [All] is true. Short mode with -race runs an eighth of short, at least one.
func Times(all, n, short int) int {
	switch {
	case All():
		return all
	case testing.Short() && invariants.Enabled:
		return max(short/fewer, 1)
	case testing.Short():
		return short
	}
	return n
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
