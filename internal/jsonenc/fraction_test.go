// SPDX-License-Identifier: Apache-2.0

package jsonenc_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nib-log/nib/internal/jsonenc"
)

func TestPutFraction(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		nsec := rng.Uint32N(1e9)
		if i < 2 {
			nsec = uint32(i) * 999_999_999
		}
		for _, digits := range []int{0, 3, 6, 9} {
			got := []byte("xxxxxxxxxxx")
			jsonenc.PutFraction(got, nsec, digits)
			want := fmt.Sprintf("%09d", nsec)[:digits] + "xxxxxxxxxxx"[digits:]
			if string(got) != want {
				t.Fatalf("PutFraction(%d, %d digits)\n got %s\nwant %s", nsec, digits, got, want)
			}
		}
	}
}
