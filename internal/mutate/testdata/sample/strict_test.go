//go:build strict

package sample

import "testing"

func TestNever(t *testing.T) {
	if !Never() {
		t.Error("got false, want true")
	}
}
