// SPDX-License-Identifier: Apache-2.0

package logread

import (
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
