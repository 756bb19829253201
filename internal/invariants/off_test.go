// SPDX-License-Identifier: Apache-2.0

//go:build !race && !invariants

package invariants

import (
	"reflect"
	"testing"
)

func TestNothingRemainsInThisBuild(t *testing.T) {
	if Enabled {
		t.Error("got Enabled = true, want false")
	}
	if got := reflect.TypeOf(Stack{}).Size(); got != 0 {
		t.Errorf("size of a Stack: got %d, want 0", got)
	}
	var s Stack
	s.Record()
	if got := s.String(); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	b := []byte("kept")
	Poison(b)
	if got := string(b); got != "kept" {
		t.Errorf("got %q, want kept", got)
	}
}
