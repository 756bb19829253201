// SPDX-License-Identifier: Apache-2.0

package jsonenc_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/seed"
)

func TestPutFraction(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 2))
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

func TestFraction(t *testing.T) {
	for layout, want := range map[string]int{
		jsonenc.TimeUnix:                      0,
		jsonenc.TimeUnixMilli:                 3,
		jsonenc.TimeUnixMicro:                 6,
		jsonenc.TimeUnixNano:                  9,
		time.RFC3339:                          0,
		"2006-01-02T15:04:05.0Z07:00":         -1,
		"2006-01-02T15:04:05.000Z07:00":       3,
		"2006-01-02T15:04:05.000000Z07:00":    6,
		"2006-01-02T15:04:05.000000000Z07:00": 9,
		time.RFC3339Nano:                      jsonenc.NineOrFewer,
		"2006-01-02T15:04:05.999999Z07:00":    -1,
		".000Z07:00":                          -1,
		"2006-01-02T15:04:05.000":             -1,
		time.Kitchen:                          -1,
	} {
		if got := jsonenc.CompileTime(layout).Fraction(); got != want {
			t.Errorf("%s: %d digits, want %d", layout, got, want)
		}
	}
}

func TestFractionTail(t *testing.T) {
	at := time.Unix(1e9, 123456789)
	for _, zone := range []*time.Location{
		time.UTC, time.FixedZone("", 3600), time.FixedZone("", -9000), time.FixedZone("", 100*3600), time.FixedZone("", -1000*3600),
	} {
		for layout, digits := range map[string]string{"2006-01-02T15:04:05.000Z07:00": "123", jsonenc.TimeUnixMicro: "123456"} {
			text := jsonenc.CompileTime(layout).Append(nil, at.In(zone))
			if got := string(text[:len(text)-jsonenc.FractionTail(text)]); !strings.HasSuffix(got, digits) {
				t.Errorf("%s: the text before the tail is %s, want digits %s at its end", text, got, digits)
			}
		}
	}
}
