// SPDX-License-Identifier: Apache-2.0

package pool

import "testing"

// TestShardBesideABusyOne uses a shard as goroutines do that find theirs in
// use: values that they put there stay within its room, and they do not wait.
func TestShardBesideABusyOne(t *testing.T) {
	s := &shard[int]{items: make([]int, 2, 4)}
	for n, want := range []bool{true, true, false} {
		if got := s.tryPut(n + 1); got != want {
			t.Errorf("put %d: got %v, want %v", n+1, got, want)
		}
	}
	state := s.state
	s.state = lockBit
	if _, ok := s.tryGet(); ok || s.tryPut(9) || s.state != lockBit {
		t.Error("a shard that is in use was changed")
	}
	s.state = state
	for _, want := range []int{2, 1, 0} {
		if got, ok := s.tryGet(); got != want || ok != (want > 0) {
			t.Errorf("get: got %d and %v, want %d", got, ok, want)
		}
	}
	if s.items[0] != 0 || s.items[1] != 0 {
		t.Errorf("the shard keeps what was taken: %d", s.items)
	}
}
