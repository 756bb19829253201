// Package user tests what it uses.
package user

import (
	"sample"
	"testing"
)

func TestNever(t *testing.T) {
	if !sample.Never() {
		t.Error("got false, want true")
	}
}
