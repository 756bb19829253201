// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

func TestDurationsAreThoseOfPackageTime(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	texts := []string{"", "-", "1", "s", "1s", "1.5h", "1h30m", "1m30.25s", "-2ms", "1µs", "1us", "1s1", "1 s", "1e3s", "..s", "9999999h", "1x", "0s"}
	texts = append(texts, "9223372036854775808ns", "9223372036854774784ns")
	for range 1000 {
		texts = append(texts, time.Duration(r.Int64N(1<<(10+r.IntN(43)))).String())
	}
	for _, text := range texts {
		want, err := time.ParseDuration(text)
		if got, ok := parseDuration([]byte(text)); ok != (err == nil) || got != want && err == nil {
			t.Errorf("%q: got %v, %v, want %v, %v", text, got, ok, want, err)
		}
	}
}

// Numbers are compared as package big does, at the limits of int64 and float64
// and with zeros in front.
func TestNumbersAreComparedExactly(t *testing.T) {
	texts := []string{
		"0", "-0", "1", "-1", "007", "0000000000000000000000007", "9007199254740991", "9007199254740992",
		"9007199254740993", "9223372036854775806", "9223372036854775807", "9223372036854775808",
		"9223372036854775809", "-9223372036854775807", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551614", "18446744073709551615", "18446744073709551616",
		"018446744073709551616", "340282366920938463463374607431768211455",
		"340282366920938463463374607431768211456", "-340282366920938463463374607431768211456",
	}
	for _, a := range texts {
		for _, b := range texts {
			x, okX := parseNumber([]byte(a))
			y, okY := parseNumber([]byte(b))
			wantX, _ := new(big.Int).SetString(a, 10)
			wantY, _ := new(big.Int).SetString(b, 10)
			if got, want := x.compare(y), wantX.Cmp(wantY); !okX || !okY || got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}
