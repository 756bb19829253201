// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

// scaled is the oracle: d / 10^decimals by exact arithmetic.
func scaled(d time.Duration, decimals int64) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	s := new(big.Rat).SetFrac(big.NewInt(int64(d)), unit).FloatString(int(decimals))
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func checkDuration(t *testing.T, d time.Duration) {
	t.Helper()
	text := MakeText(`,"key":`)
	for _, dst := range [][]byte{nil, []byte("x"), make([]byte, 1, 100)} {
		prefix := string(dst)
		if got, want := string(AppendTextMillis(dst, &text, d)), prefix+`,"key":`+scaled(d, 6); got != want {
			t.Fatalf("AppendTextMillis(%d) = %s, want %s", d, got, want)
		}
		if got, want := string(AppendMillis(dst, d)), prefix+scaled(d, 6); got != want {
			t.Fatalf("AppendMillis(%d) = %s, want %s", d, got, want)
		}
		if got, want := string(AppendSeconds(dst, d)), prefix+scaled(d, 9); got != want {
			t.Fatalf("AppendSeconds(%d) = %s, want %s", d, got, want)
		}
		if got, want := string(AppendDurationString(dst, d)), prefix+`"`+d.String()+`"`; got != want {
			t.Fatalf("AppendDurationString(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestDurationExamples(t *testing.T) {
	tests := []struct {
		in                   time.Duration
		millis, seconds, str string
	}{
		{0, "0", "0", `"0s"`},
		{1, "0.000001", "0.000000001", `"1ns"`},
		{1500 * time.Microsecond, "1.5", "0.0015", `"1.5ms"`},
		{2 * time.Millisecond, "2", "0.002", `"2ms"`},
		{-time.Microsecond, "-0.001", "-0.000001", `"-1µs"`},
		{90 * time.Minute, "5400000", "5400", `"1h30m0s"`},
		{math.MinInt64, "-9223372036854.775808", "-9223372036.854775808", `"-2562047h47m16.854775808s"`},
	}
	for _, tt := range tests {
		if got := string(AppendMillis(nil, tt.in)); got != tt.millis {
			t.Errorf("AppendMillis(%d) = %s, want %s", tt.in, got, tt.millis)
		}
		if got := string(AppendSeconds(nil, tt.in)); got != tt.seconds {
			t.Errorf("AppendSeconds(%d) = %s, want %s", tt.in, got, tt.seconds)
		}
		if got := string(AppendDurationString(nil, tt.in)); got != tt.str {
			t.Errorf("AppendDurationString(%d) = %s, want %s", tt.in, got, tt.str)
		}
	}
}

func TestDurationOracle(t *testing.T) {
	edges := []time.Duration{
		0, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, 100 * time.Hour, math.MaxInt64, math.MinInt64,
	}
	for _, d := range edges {
		for i := time.Duration(-3); i <= 3; i++ {
			checkDuration(t, d+i)
			checkDuration(t, -d+i)
		}
	}
	for p := time.Duration(1); p > 0 && p < math.MaxInt64/10; p *= 10 {
		checkDuration(t, p)
		checkDuration(t, 7*p)
	}
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 6))
	for range n {
		checkDuration(t, time.Duration(r.Uint64())>>r.IntN(64))
	}
}

func FuzzDuration(f *testing.F) {
	f.Add(int64(1500000))
	f.Fuzz(func(t *testing.T, d int64) { checkDuration(t, time.Duration(d)) })
}

func TestUnixExamples(t *testing.T) {
	zero := time.Time{}
	if got, want := string(appendUnix(nil, zero.Unix(), 0, 9)), "-62135596800000000000"; got != want {
		t.Errorf("zero time in nanoseconds: %s, want %s", got, want)
	}
	tests := []struct {
		sec                int64
		nsec               int
		milli, micro, nano string
	}{
		{0, 0, "0", "0", "0"},
		{0, 1, "0", "0", "1"},
		{-1, 999_999_999, "-1", "-1", "-1"},
		{-1, 0, "-1000", "-1000000", "-1000000000"},
		{-2, 500_000_000, "-1500", "-1500000", "-1500000000"},
		{1, 2_003_004, "1002", "1002003", "1002003004"},
		{math.MaxInt64, 999_999_999, "9223372036854775807999", "9223372036854775807999999", "9223372036854775807999999999"},
		{math.MinInt64, 0, "-9223372036854775808000", "-9223372036854775808000000", "-9223372036854775808000000000"},
	}
	for _, tt := range tests {
		got := [3]string{
			string(appendUnix(nil, tt.sec, tt.nsec, 3)), string(appendUnix(nil, tt.sec, tt.nsec, 6)), string(appendUnix(nil, tt.sec, tt.nsec, 9)),
		}
		if want := [3]string{tt.milli, tt.micro, tt.nano}; got != want {
			t.Errorf("%d, %d:\ngot  %s\nwant %s", tt.sec, tt.nsec, got, want)
		}
	}
}
