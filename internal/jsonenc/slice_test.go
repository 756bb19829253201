// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

func TestSpliceIsReplace(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range 10_000 {
		b := make([]byte, r.IntN(40), 60)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		from := r.IntN(len(b) + 1)
		end := from + r.IntN(len(b)-from+1)
		text := strings.Repeat("X", r.IntN(30))
		want := slices.Replace(bytes.Clone(b), from, end, []byte(text)...)
		if got := Splice(bytes.Clone(b), from, end, text); !bytes.Equal(got, want) {
			t.Fatalf("%d:%d of %q by %q: got %q, want %q", from, end, b, text, got, want)
		}
		if got := Splice(b, from, end, text); !bytes.Equal(got, want) { // with more capacity
			t.Fatalf("%d:%d by %q in place: got %q, want %q", from, end, text, got, want)
		}
	}
}
