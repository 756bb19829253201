// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"bytes"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// An appender is a function with its arguments. An exact one does not grow a
// slice that has just enough room for the appended bytes.
type appender struct {
	name  string
	exact bool
	call  func([]byte) []byte
}

func appenders() (list []appender) {
	add := func(name string, exact bool, call func([]byte) []byte) {
		list = append(list, appender{name, exact, call})
	}
	texts := []string{"\xff", "é", "日本", "日本語日本語日本語", "a\"b", "\n", "plain, and then \x01 and more that is plain", "кириллица", "tail \u2028"}
	for n := range 70 {
		texts = append(texts, strings.Repeat("abcdefg ", 9)[:n])
	}
	for _, s := range texts {
		clean := isPlain(s)
		key, long := MakeText(`,"`+s+`":`), MakeText(`,"key":"`)
		add("String "+s, clean, func(b []byte) []byte { return AppendString(b, s) })
		add("Key "+s, clean && len(s) > 0 && len(s) <= 16, func(b []byte) []byte { return AppendKey(b, s) })
		add("KeyString "+s, clean, func(b []byte) []byte { return AppendKeyString(b, "key", s) })
		add("KeyString of key "+s, false, func(b []byte) []byte { return AppendKeyString(b, s, s) })
		add("KeyInt "+s, false, func(b []byte) []byte { return AppendKeyInt(b, s, -12345) })
		add("Strings "+s, false, func(b []byte) []byte { return AppendStrings(b, []string{"a", s, s}) })
		add("Hex "+s, true, func(b []byte) []byte { return AppendHex(b, []byte(s)) })
		add("Base64 "+s, true, func(b []byte) []byte { return AppendBase64(b, []byte(s)) })
		if clean {
			add("Text "+s, false, func(b []byte) []byte { return AppendText(b, &key) })
			add("TextBool "+s, false, func(b []byte) []byte { return AppendTextBool(AppendTextBool(b, &key, true), &key, false) })
			add("TextInt "+s, false, func(b []byte) []byte { return AppendTextInt(b, &key, -123) })
			add("TextFloat64 "+s, false, func(b []byte) []byte { return AppendTextFloat64(b, &key, -1.5) })
			add("TextMillis "+s, false, func(b []byte) []byte { return AppendTextMillis(b, &key, 1234567) })
		}
		add("TextString "+s, false, func(b []byte) []byte { return AppendTextString(b, &long, s) })
	}
	for _, v := range []uint64{0, 7, 42, 123, 9999, 12345, 1234567, 99999999, 100000000, 1 << 40, math.MaxInt64, math.MaxUint64} {
		key := MakeText(`,"k":`)
		d := time.Duration(v)
		add("Uint", false, func(b []byte) []byte { return AppendUint(b, v) })
		add("Int", false, func(b []byte) []byte { return AppendInt(b, -int64(v)) })
		add("Ints", false, func(b []byte) []byte { return AppendInts(b, []int64{3, int64(v), 1234, -int64(v), 14, -8}) })
		add("KeyUint", false, func(b []byte) []byte { return AppendKeyUint(b, "key", v) })
		add("TextUint", false, func(b []byte) []byte { return AppendTextUint(b, &key, v) })
		add("Float64", false, func(b []byte) []byte { return AppendFloat64(b, -float64(v)/1000) })
		add("Float64", false, func(b []byte) []byte { return AppendFloat64(b, 1/float64(v+3)) })
		add("Float32", false, func(b []byte) []byte { return AppendFloat32(b, float32(v)/1000) })
		add("Millis", false, func(b []byte) []byte { return AppendMillis(b, d) })
		add("Seconds", false, func(b []byte) []byte { return AppendSeconds(b, -d) })
		add("DurationString", false, func(b []byte) []byte { return AppendDurationString(b, d) })
		add("UnixNano", false, func(b []byte) []byte { return appendUnix(b, int64(v), 1, 9) })
	}
	addPlaces(add)
	return list
}

// addPlaces adds the appenders of times and addresses.
func addPlaces(add func(name string, exact bool, call func([]byte) []byte)) {
	zone := time.FixedZone("", -5400)
	for _, layout := range []string{time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05.000Z07:00", time.ANSIC, TimeUnix, TimeUnixMilli} {
		p := CompileTime(layout)
		for _, at := range []time.Time{time.Unix(1e9, 5).In(zone), time.Unix(1e9, 123456789).UTC(), time.Date(123456, 1, 1, 0, 0, 0, 0, zone)} {
			add("Time", false, func(b []byte) []byte { return p.Append(b, at) })
			add("TimeCached", false, func(b []byte) []byte {
				var cache SecondCache
				b = p.AppendCached(b, &cache, at.Unix(), at.Nanosecond(), at.Location())
				return p.AppendCached(b, &cache, at.Unix(), at.Nanosecond(), at.Location())
			})
		}
	}
	addr := netip.MustParseAddr("fe80::1")
	add("IP", false, func(b []byte) []byte { return AppendIP(b, net.IPv4(10, 20, 30, 40)) })
	add("MAC", false, func(b []byte) []byte { return AppendMAC(b, net.HardwareAddr("123456")) })
	add("Addr", false, func(b []byte) []byte { return AppendAddr(b, addr.WithZone("eth\"0")) })
	add("AddrPort", false, func(b []byte) []byte { return AppendAddrPort(b, netip.AddrPortFrom(addr, 80)) })
	add("Prefix", false, func(b []byte) []byte { return AppendPrefix(b, netip.PrefixFrom(addr, 64)) })
}

// isPlain reports whether s is written unescaped.
func isPlain(s string) bool {
	for _, r := range s {
		if r < ' ' || r == '"' || r >= 0x80 {
			return false
		}
	}
	return true
}

// TestAppendStaysInItsRoom appends to slices of every capacity inside a larger
// array: the appended bytes are the same, nothing outside of the slice changes,
// and a slice with enough room is not copied.
func TestAppendStaysInItsRoom(t *testing.T) {
	const guard = 64
	arena := make([]byte, 1<<12)
	for _, a := range appenders() {
		want := string(a.call([]byte("x")))
		n := len(want) - 1
		rooms := n + 70
		for room := 0; room <= rooms; room++ {
			for i := range arena[:room+2*guard+1] {
				arena[i] = 0xa5
			}
			dst := arena[guard : guard+1 : guard+1+room]
			dst[0] = 'x'
			got := a.call(dst)
			if string(got) != want {
				t.Fatalf("%s with room for %d\n got %s\nwant %s", a.name, room, got, want)
			}
			before, after := arena[:guard], arena[guard+1+room:room+2*guard+1]
			if bytes.Count(before, []byte{0xa5}) != guard || bytes.Count(after, []byte{0xa5}) != guard || dst[0] != 'x' {
				t.Fatalf("%s with room for %d changed what is around the slice: %x, %x", a.name, room, before, after)
			}
			if enough := room == rooms || a.exact && room >= n; enough && &got[0] != &dst[0] {
				t.Fatalf("%s with room for %d grew the slice, for %d bytes", a.name, room, n)
			}
		}
	}
}

// TestStringOfRunsOfEveryKind has texts in which runs of one kind of characters
// follow each other at any offset: the loops over words must leave each where
// it ends. They are cut out of longer texts, and nothing beyond them may be
// read.
func TestStringOfRunsOfEveryKind(t *testing.T) {
	runs := []string{
		"日本", "日本語日本語", "\u2028日", "日\ufeff", "\xff\xff\xff\xff\xff\xff", "\xe6\x97", `""""""`, "a\"cde\n", "éàü", "é\u0080ü", "привет", "abcdefgh", "x", "🙂",
	}
	dst := make([]byte, 0, 1024)
	for _, a := range runs {
		for _, b := range runs {
			for _, c := range runs {
				for _, d := range runs[:6] {
					whole := a + b + c + d + "日本語日本語日本語"
					s := whole[:len(a+b+c+d)]
					want := quote(s)
					if got := string(AppendString(dst, s)); got != want {
						t.Fatalf("AppendString(%q)\n got %s\nwant %s", s, got, want)
					}
				}
			}
		}
	}
}
