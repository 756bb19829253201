// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

func checkFloat(t *testing.T, v float64) {
	t.Helper()
	if want, err := json.Marshal(v); err == nil {
		if got := string(AppendFloat64([]byte("x"), v)); got != "x"+string(want) {
			t.Fatalf("AppendFloat64(%x) = %s, want x%s", math.Float64bits(v), got, want)
		}
	}
	checkFloat32(t, float32(v))
}

func checkFloat32(t *testing.T, f float32) {
	t.Helper()
	if want, err := json.Marshal(f); err == nil {
		if got := string(AppendFloat32([]byte("x"), f)); got != "x"+string(want) {
			t.Fatalf("AppendFloat32(%x) = %s, want x%s", math.Float32bits(f), got, want)
		}
	}
}

func TestFloatExamples(t *testing.T) {
	tests := []struct {
		in   float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "-0"},
		{1, "1"},
		{-1.5, "-1.5"},
		{0.29, "0.29"},
		{1e-6, "0.000001"},
		{1.23456789012345e-6, "0.00000123456789012345"},
		{9.5e-7, "9.5e-7"},
		{1e20, "100000000000000000000"},
		{1e21, "1e+21"},
		{0.30000000000000004, "0.30000000000000004"},
		{999999999999999, "999999999999999"},
		{99999999999999.9, "99999999999999.9"},
		{math.NaN(), `"NaN"`},
		{math.Inf(1), `"+Inf"`},
		{math.Inf(-1), `"-Inf"`},
	}
	for _, tt := range tests {
		if got := string(AppendFloat64(nil, tt.in)); got != tt.want {
			t.Errorf("AppendFloat64(%g) = %s, want %s", tt.in, got, tt.want)
		}
	}
	for _, f := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		if got, want := string(AppendFloat32(nil, f)), string(AppendFloat64(nil, float64(f))); got != want {
			t.Errorf("AppendFloat32(%g) = %s, want %s", f, got, want)
		}
	}
}

// Neighbours of short decimals are long, and next to the bounds of each path.
func TestFloatNeighbours(t *testing.T) {
	for e := -10; e < 24; e++ {
		for _, m := range []float64{1, 1.5, 2, 3.7, 9.99, 1.234567, 9.99999, 9.999999, 1.23456789012345, 9.99999999999999} {
			v := m * math.Pow(10, float64(e))
			down, up := v, v
			for range 4 {
				checkFloat(t, down)
				checkFloat(t, -up)
				down, up = math.Nextafter(down, 0), math.Nextafter(up, math.Inf(1))
			}
			d, u := float32(v), float32(v)
			for range 4 {
				checkFloat32(t, d)
				checkFloat32(t, -u)
				d, u = math.Nextafter32(d, 0), math.Nextafter32(u, float32(math.Inf(1)))
			}
		}
	}
	for e := -30; e < 60; e++ {
		v := math.Ldexp(1, e)
		checkFloat(t, v)
		checkFloat(t, math.Nextafter(v, 0))
		checkFloat(t, math.Nextafter(v, math.Inf(1)))
	}
}

func TestFloatRandom(t *testing.T) {
	n := seed.Times(1_000_000, 100_000, 5_000)
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range n {
		checkFloat(t, math.Float64frombits(r.Uint64()))
		checkFloat32(t, math.Float32frombits(r.Uint32()))
		// A random decimal of up to 17 digits, with the point anywhere.
		checkFloat(t, float64(r.Uint64N(pow10[1+r.IntN(17)]))/math.Pow(10, float64(r.IntN(24))))
		checkFloat(t, float64(r.IntN(1e6))/float64(pow10[r.IntN(7)]))
		checkFloat(t, r.Float64()*100)
	}
}

func FuzzFloat(f *testing.F) {
	f.Add(math.Float64bits(0.1), uint32(1))
	f.Add(math.Float64bits(1e15), math.Float32bits(1e-6))
	f.Fuzz(func(t *testing.T, bits uint64, narrow uint32) {
		checkFloat(t, math.Float64frombits(bits))
		checkFloat32(t, math.Float32frombits(narrow))
		checkFloat(t, float64(bits>>14)/float64(pow10[narrow%20]))
	})
}

func TestShortFloats(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1e-3, 9.99e-4, 0.0005, 99999.999, 99999.9995, 1e5,
		1e8, 1e15, 1e21, math.Pi, math.NaN(), math.Inf(1),
		0.1 + 0.2, 1.0005, 4.35, 1.005, 0.29, 12.75, 100, 33.333, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Nextafter(12.75, 13), math.Nextafter(1, 0)}
	for m := range 2000 {
		values = append(values, float64(m)/1e3, float64(m)/1e2, float64(m)/10, float64(m),
			float64(m)*49.999)
	}
	n := seed.Times(100_000, 10_000, 2_000)
	random := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range n {
		values = append(values, float64(random.IntN(1e8))/1e3, float64(random.IntN(1e9))/1e4,
			random.NormFloat64(), math.Float64frombits(random.Uint64()))
	}
	for _, s := range []string{"", `,"key":`, `,"a key that is longer than what is copied at once":`} {
		text := MakeText(s)
		for _, v := range values {
			for _, v := range []float64{v, -v} {
				for _, dst := range [][]byte{nil, make([]byte, 1, 1000)} {
					want := string(dst) + s + string(AppendFloat64(nil, v))
					if got := string(AppendTextFloat64(dst, &text, v)); got != want {
						t.Errorf("AppendTextFloat64(%q, %q, %v) = %s, want %s", dst, s, v, got,
							want)
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
