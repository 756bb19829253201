// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

func TestSecondTextIsTimeFormat(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	from := seed.Of(t)
	odd := time.FixedZone("", -(3*3600 + 30*60 + 15))
	for _, layout := range []string{
		"2006-01-02 15:04:05", "2006-01-02 15:04:05.000", "2006-01-02 15:04:05,000000", "15:04:05.000000000 2006",
		"05.999999999", "15:04:05.00 MST", time.RFC3339, time.RFC3339Nano, time.ANSIC, time.RFC1123Z, time.StampNano, time.Kitchen,
		"", "constant", "111 .000 111", ".000 .000", "2006.000 15:04:05.000", "January", "5.0", "05.0 05.00", "\u00e9 05.000 \"",
	} {
		var s secondText
		r := rand.New(rand.NewPCG(from, 2))
		at := time.Date(2026, 12, 31, 23, 59, 58, 0, time.UTC)
		for i := range 2000 {
			at = at.Add(time.Duration(r.Int64N(int64(time.Second) / 3)))
			if i%500 == 0 {
				at = at.Truncate(time.Second)
			}
			now := at
			switch i / 10 % 4 {
			case 1:
				now = at.In(tokyo)
			case 2:
				now = at.In(odd)
			case 3:
				now = time.Unix(-at.Unix(), int64(at.Nanosecond())).UTC()
			}
			if got, want := string(s.format(now, layout)), now.Format(layout); got != want {
				t.Fatalf("layout %q, time %v: got %q, want %q", layout, now, got, want)
			}
		}
	}
}

func TestSecondTextKeepsTheSecond(t *testing.T) {
	var s secondText
	at := time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.UTC)
	const layout = "2006-01-02 15:04:05.000"
	s.format(at, layout)
	s.text[0] = '#' // shows whether the text is made anew
	if got, want := string(s.format(at.Add(700*time.Millisecond), layout)), "#026-01-02 15:04:05.823"; got != want {
		t.Errorf("the same second: got %q, want %q", got, want)
	}
	if got, want := string(s.format(at.Add(time.Second), layout)), "2026-01-02 15:04:06.123"; got != want {
		t.Errorf("the next second: got %q, want %q", got, want)
	}
}
