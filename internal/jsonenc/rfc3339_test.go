// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"testing"
	"time"
)

// checkRFC3339 compares with package time, which writes nothing if there is an
// error.
func checkRFC3339(t *testing.T, when time.Time) {
	t.Helper()
	want, err := when.MarshalJSON()
	for _, dst := range [][]byte{nil, []byte("x"), make([]byte, 1, 100)} {
		got, ok := AppendRFC3339(dst, &when)
		if ok != (err == nil) {
			t.Errorf("AppendRFC3339(%v): got %v, want error %v", when, ok, err)
		}
		if string(got) != string(dst)+string(want) {
			t.Errorf("AppendRFC3339(%q, %v) = %s, want %s", dst, when, got, want)
		}
		for _, s := range []string{`,"key":`, `,"a key of 16 by":`, `,"a key of 24 bytes abc":`, `,"a key of 32 bytes abcdefghijk":`, `,"a key that is longer than what is copied at once":`} {
			text := MakeText(s)
			got, ok := AppendTextRFC3339(dst, &text, &when)
			if !ok {
				s = ""
			}
			if string(got) != string(dst)+s+string(want) || ok != (err == nil) {
				t.Errorf("AppendTextRFC3339(%q, %q, %v) = %s, %v, want %s, error %v", dst, s, when, got, ok, want, err)
			}
		}
	}
}

func TestRFC3339EveryDay(t *testing.T) {
	for day := time.Date(-1, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 10001; day = day.AddDate(0, 0, 1) {
		if testing.Short() && day.Year() == 3 {
			day = day.AddDate(1897, 0, 0) // the calendar repeats itself after 400 years
		}
		if testing.Short() && day.Year() == 2303 {
			day = day.AddDate(7693, 0, 0)
		}
		want, err := day.MarshalJSON()
		got, ok := AppendRFC3339(nil, &day)
		if ok != (err == nil) || string(got) != string(want) {
			t.Fatalf("AppendRFC3339(%v) = %s, %v, want %s, error %v", day, got, ok, want, err)
		}
	}
}

func TestRFC3339EverySecondOfADay(t *testing.T) {
	first := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	for s := range 86401 {
		when := first.Add(time.Duration(s) * time.Second)
		want, _ := when.MarshalJSON()
		if got, _ := AppendRFC3339(nil, &when); string(got) != string(want) {
			t.Fatalf("AppendRFC3339(%v) = %s, want %s", when, got, want)
		}
	}
}

func TestRFC3339Fractions(t *testing.T) {
	for n := 1; n < 1e9; n *= 10 {
		for _, nsec := range []int{n, 9 * n, 1e9 - n, 123456789 / n * n, 1e8 + n} {
			checkRFC3339(t, time.Date(2026, 11, 21, 1, 2, 3, nsec%1e9, time.UTC))
		}
	}
}

func TestRFC3339Zones(t *testing.T) {
	for _, offset := range []int{0, 1, -1, 59, -59, 60, -60, 3600, -3600, 19800, -12345, 86399, -86399, 86400, -86400, 1e6, -1e6} {
		zone := time.FixedZone("", offset)
		checkRFC3339(t, time.Date(2026, 11, 21, 1, 2, 3, 4000, zone))
		for _, year := range []int{0, 9999} {
			checkRFC3339(t, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).In(zone))
			checkRFC3339(t, time.Date(year, 12, 31, 23, 59, 59, 999999999, time.UTC).In(zone))
		}
	}
	checkRFC3339(t, time.Time{})
	checkRFC3339(t, time.Now())
	checkRFC3339(t, time.Now().Local())
	checkRFC3339(t, time.Unix(1<<62, 0))
	checkRFC3339(t, time.Unix(-1<<62, 0))
}
