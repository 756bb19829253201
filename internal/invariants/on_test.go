// SPDX-License-Identifier: Apache-2.0

//go:build race || invariants

package invariants

import (
	"bytes"
	"strings"
	"testing"
)

//go:noinline
func finish(s *Stack) { s.Record() }

//go:noinline
func finishDeep(s *Stack, depth int) {
	if depth == 0 {
		finish(s)
		return
	}
	finishDeep(s, depth-1)
}

func TestEnabledInThisBuild(t *testing.T) {
	if !Enabled {
		t.Fatal("got Enabled = false, want true with -race or -tags invariants")
	}
}

func TestZeroStackIsEmpty(t *testing.T) {
	var s Stack
	if got := s.String(); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestRecordStartsAtItsCaller(t *testing.T) {
	var s Stack
	finish(&s)
	lines := strings.Split(s.String(), "\n")
	if got, want := lines[0], "github.com/nib-log/nib/internal/invariants.finish"; got != want {
		t.Errorf("first frame: got %q, want %q", got, want)
	}
	if got, want := lines[1], "on_test.go:"; !strings.HasPrefix(got, "\t") || !strings.Contains(got, want) {
		t.Errorf("place of the first frame: got %q, want a tab and %q", got, want)
	}
	if got, want := lines[2], "github.com/nib-log/nib/internal/invariants.TestRecordStartsAtItsCaller"; got != want {
		t.Errorf("second frame: got %q, want %q", got, want)
	}
}

func TestDeepStackKeepsTheInnermostFrames(t *testing.T) {
	var s Stack
	finishDeep(&s, 100)
	got := s.String()
	if n := strings.Count(got, "\n") / 2; n != maxFrames {
		t.Errorf("got %d frames, want %d", n, maxFrames)
	}
	if !strings.HasPrefix(got, "github.com/nib-log/nib/internal/invariants.finish\n") {
		t.Errorf("got %q, want the innermost frame first", got)
	}
}

func TestRecordReplacesTheStackBefore(t *testing.T) {
	var s Stack
	finishDeep(&s, 5)
	finish(&s)
	if got := s.String(); strings.Contains(got, "finishDeep") {
		t.Errorf("got frames of the first record:\n%s", got)
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	s := new(Stack)
	if got := testing.AllocsPerRun(100, func() { finish(s) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func TestPoisonFillsTheCapacity(t *testing.T) {
	backing := []byte("0123456789")
	Poison(backing[2:4:8])
	want := append([]byte("01"), bytes.Repeat([]byte{poison}, 6)...)
	want = append(want, "89"...)
	if !bytes.Equal(backing, want) {
		t.Errorf("got %x, want %x", backing, want)
	}
	Poison(nil)
}
