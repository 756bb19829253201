// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

var layouts = []string{
	time.RFC3339, time.RFC3339Nano,
	"2006-01-02T15:04:05.0Z07:00", "2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.0000Z07:00",
	"2006-01-02T15:04:05.000000Z07:00", "2006-01-02T15:04:05.000000000Z07:00",
	"2006-01-02T15:04:05.9Z07:00", "2006-01-02T15:04:05.999Z07:00", "2006-01-02T15:04:05.999999Z07:00",
	// Near misses, which package time has to write.
	"2006-01-02T15:04:05,000Z07:00", "2006-01-02T15:04:05.0000000000Z07:00", "2006-01-02T15:04:05.Z07:00",
	"2006-01-02T15:04:05.099Z07:00", "2006-01-02T15:04:05.000Z0700", "2006-01-02T15:04:05.000", "2006-01-02 15:04:05Z07:00",
	// Others.
	"", time.RFC1123Z, time.StampMicro, time.Kitchen, "\"2006\\\n\u2028", `"15" 04:05.00 MST`,
}

var unixLayouts = []string{TimeUnix, TimeUnixMilli, TimeUnixMicro, TimeUnixNano}

// zones returns the locations that the tests use, without the time zone
// database where there is none.
func zones() []*time.Location {
	list := []*time.Location{
		time.UTC, time.Local,
		time.FixedZone("x", 3600), time.FixedZone("x", -3*3600-1800), time.FixedZone("odd \"name\n", 5*3600+1792),
		time.FixedZone("", 30), time.FixedZone("", -30), time.FixedZone("", -90), time.FixedZone("", 59),
		time.FixedZone("", 99*3600+3599), time.FixedZone("", 100*3600), time.FixedZone("", -100*3600), time.FixedZone("", -99*3600-3599),
		time.FixedZone("", math.MaxInt32), time.FixedZone("", math.MinInt32),
	}
	for _, name := range []string{"Asia/Tokyo", "America/New_York", "Europe/Amsterdam", "Australia/Lord_Howe", "Africa/Monrovia", "Asia/Kathmandu"} {
		if loc, err := time.LoadLocation(name); err == nil {
			list = append(list, loc)
		}
	}
	return list
}

// wantTime is the oracle.
func wantTime(t time.Time, layout string) string {
	unit := map[string]int64{TimeUnix: 1, TimeUnixMilli: 1e3, TimeUnixMicro: 1e6, TimeUnixNano: 1e9}[layout]
	if unit == 0 {
		return quote(t.Format(layout))
	}
	// Rounded down, as the nanoseconds of a time count forward.
	n := big.NewInt(t.Unix())
	n.Mul(n, big.NewInt(unit))
	return n.Add(n, big.NewInt(int64(t.Nanosecond())/(1e9/unit))).String()
}

func checkTime(t *testing.T, c *SecondCache, tm time.Time) {
	t.Helper()
	for _, list := range [][]string{layouts, unixLayouts} {
		for _, layout := range list {
			f := CompileTime(layout)
			want := "x" + wantTime(tm, layout)
			if got := string(f.Append([]byte("x"), tm)); got != want {
				t.Fatalf("CompileTime(%q).Append\ngot  %s\nwant %s", layout, got, want)
			}
			// Twice: the second call finds the second in the cache.
			for range 2 {
				if got := string(f.AppendCached([]byte("x"), c, tm.Unix(), tm.Nanosecond(), tm.Location())); got != want {
					t.Fatalf("CompileTime(%q).AppendCached\ngot  %s\nwant %s", layout, got, want)
				}
			}
		}
	}
}

func TestTimeEqualsFormat(t *testing.T) {
	seconds := []int64{
		0, -1, 1, 59, 1e9, 1.7e9, minCivil - 1, minCivil, minCivil + 1, maxCivil - 1, maxCivil, maxCivil + 1,
		-62135596800, -62135596801, 9223372036, 9223372037, -9223372036, -9223372037,
		math.MaxInt64, math.MaxInt64 - 1e6, math.MinInt64, math.MinInt64 + 1e6, 1e18, -1e18,
	}
	for year := -3; year < 10004; year += 7 {
		for _, md := range [][2]int{{1, 1}, {2, 28}, {2, 29}, {3, 1}, {12, 31}} {
			if year%100 > 8 && year < 9990 && year > 10 {
				continue
			}
			seconds = append(seconds, time.Date(year, time.Month(md[0]), md[1], 23, 59, 59, 0, time.UTC).Unix())
		}
	}
	var c SecondCache
	all := zones()
	for i, sec := range seconds {
		for k, loc := range all {
			nsec := []int64{0, 1, 999_999_999, 120_000_000, 123_456_000, 5_000_000, 10}[(i+k)%7]
			checkTime(t, &c, time.Unix(sec, nsec).In(loc))
		}
	}
	checkTime(t, &c, time.Time{})
	checkTime(t, &c, time.Now())
}

// The two switches of 2024 in New York, second by second across the edge, with
// one cache.
func TestTimeAcrossDaylightSaving(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zone database: ", err)
	}
	var c SecondCache
	for _, edge := range []int64{1710054000, 1730613600} {
		for sec := edge - 3; sec < edge+3; sec++ {
			checkTime(t, &c, time.Unix(sec, 250_000_000).In(loc))
			checkTime(t, &c, time.Unix(sec, 0).UTC())
		}
	}
}

// Ten thousand years, one day after the other.
func TestCivilCountsEveryDay(t *testing.T) {
	day := uint32(0)
	for year := uint32(0); year < 10000; year++ {
		for month := uint32(1); month <= 12; month++ {
			last := uint32(time.Date(int(year), time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day())
			for d := uint32(1); d <= last; d++ {
				if y, m, got := civil(day); y != year || m != month || got != d {
					t.Fatalf("civil(%d) = %d-%d-%d, want %d-%d-%d", day, y, m, got, year, month, d)
				}
				day++
			}
		}
	}
	if want := uint64(maxCivil-minCivil+1) / 86400; uint64(day) != want {
		t.Errorf("%d days, want %d", day, want)
	}
}

func TestTimeCachedTakesAnyArguments(t *testing.T) {
	var c SecondCache
	for _, layout := range []string{time.RFC3339Nano, TimeUnixNano, time.Kitchen} {
		f := CompileTime(layout)
		for _, nsec := range []int{-1, 1e9, 2_000_000_003, -2_000_000_000} {
			want := wantTime(time.Unix(1e9, int64(nsec)).UTC(), layout)
			if got := string(f.AppendCached(nil, &c, 1e9, nsec, nil)); got != want {
				t.Errorf("AppendCached(%s, 1e9, %d, nil) = %s, want %s", layout, nsec, got, want)
			}
		}
	}
}

// The text of the second comes from the cache as long as the second and the
// location stay the same, whatever the fraction and the format.
func TestTimeCacheKeepsTheSecond(t *testing.T) {
	var c SecondCache
	millis, plain := CompileTime("2006-01-02T15:04:05.000Z07:00"), CompileTime(time.RFC3339)
	loc := time.FixedZone("", 3600)
	millis.AppendCached(nil, &c, 1e9, 0, loc)
	c.head[1] = '?'
	if got, want := string(millis.AppendCached(nil, &c, 1e9, 5e6, loc)), `"?001-09-09T02:46:40.005+01:00"`; got != want {
		t.Errorf("same second: %s, want %s", got, want)
	}
	if got, want := string(plain.AppendCached(nil, &c, 1e9, 0, loc)), `"?001-09-09T02:46:40+01:00"`; got != want {
		t.Errorf("other format: %s, want %s", got, want)
	}
	if got, want := string(plain.AppendCached(nil, &c, 1e9, 0, time.UTC)), `"2001-09-09T01:46:40Z"`; got != want {
		t.Errorf("other location: %s, want %s", got, want)
	}
}

func TestTimeStaysWithinCapacity(t *testing.T) {
	tm := time.Date(2024, 2, 29, 1, 2, 3, 456789012, time.FixedZone("", 9*3600))
	for _, layout := range append(layouts, unixLayouts...) {
		for c := range 80 {
			want := "x" + wantTime(tm, layout)
			dst := append(make([]byte, 0, c+1), 'x')
			if got := string(CompileTime(layout).Append(dst, tm)); got != want {
				t.Fatalf("cap %d, layout %q\ngot  %s\nwant %s", c, layout, got, want)
			}
		}
	}
}

func TestTimeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 4))
	all := zones()
	var c SecondCache
	for range 1500 {
		sec := r.Int64N(maxCivil-minCivil) + minCivil
		if r.IntN(4) == 0 {
			sec = int64(r.Uint64()) >> r.IntN(64)
		}
		checkTime(t, &c, time.Unix(sec, r.Int64N(1e9)).In(all[r.IntN(len(all))]))
	}
}

func FuzzTime(f *testing.F) {
	f.Add(int64(0), int64(0), 0, "15:04")
	f.Add(int64(1e9), int64(1), 3600, "2006-01-02T15:04:05.000Z07:00")
	f.Add(int64(minCivil), int64(999999999), -30, "2006-01-02T15:04:05.999Z07:00")
	var c SecondCache
	f.Fuzz(func(t *testing.T, sec, nsec int64, offset int, layout string) {
		// Beyond that, package time itself loses the instant.
		tm := time.Unix(sec, nsec%1e9).In(time.FixedZone(layout, offset))
		if got, want := string(CompileTime(layout).Append(nil, tm)), wantTime(tm, layout); got != want {
			t.Fatalf("Append\ngot  %s\nwant %s", got, want)
		}
		checkTime(t, &c, tm)
	})
}

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
				t.Errorf("AppendTextRFC3339(%q, %q, %v) = %s, %v, want %s, error %v", dst, s, when,
					got, ok, want, err)
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
