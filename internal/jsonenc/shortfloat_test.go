// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

func TestShortFloats(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1e-3, 9.99e-4, 0.0005, 99999.999, 99999.9995, 1e5, 1e8, 1e15, 1e21, math.Pi, math.NaN(), math.Inf(1),
		0.1 + 0.2, 1.0005, 4.35, 1.005, 0.29, 12.75, 100, 33.333, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Nextafter(12.75, 13), math.Nextafter(1, 0)}
	for m := range 2000 {
		values = append(values, float64(m)/1e3, float64(m)/1e2, float64(m)/10, float64(m), float64(m)*49.999)
	}
	n := seed.Times(100_000, 10_000, 2_000)
	random := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range n {
		values = append(values, float64(random.IntN(1e8))/1e3, float64(random.IntN(1e9))/1e4, random.NormFloat64(), math.Float64frombits(random.Uint64()))
	}
	for _, s := range []string{"", `,"key":`, `,"a key that is longer than what is copied at once":`} {
		text := MakeText(s)
		for _, v := range values {
			for _, v := range []float64{v, -v} {
				for _, dst := range [][]byte{nil, make([]byte, 1, 1000)} {
					want := string(dst) + s + string(AppendFloat64(nil, v))
					if got := string(AppendTextFloat64(dst, &text, v)); got != want {
						t.Errorf("AppendTextFloat64(%q, %q, %v) = %s, want %s", dst, s, v, got, want)
					}
				}
			}
		}
	}
}

func TestFloatWithoutText(t *testing.T) {
	if got := string(AppendFloat64([]byte("x"), -12.5)); got != "x-12.5" {
		t.Errorf("got %s, want x-12.5", got)
	}
}
