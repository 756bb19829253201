// SPDX-License-Identifier: Apache-2.0

// Package seed selects the random cases of tests: the same ones for each run of
// a tree, so that a tree has one verdict, or others for each run.
package seed

import (
	"crypto/rand"
	"encoding/binary"
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
