// SPDX-License-Identifier: Apache-2.0

package linevalue_test

import (
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/linevalue"
)

var tokyo = time.FixedZone("JST", 9*60*60)

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		value, format string
		want          string // RFC 3339 in UTC, "" for a text that is not a time
	}{
		{`"2026-01-02T15:04:05Z"`, "", "2026-01-02T15:04:05Z"},
		{`"2026-01-02T15:04:05.123456789+09:00"`, "", "2026-01-02T06:04:05.123456789Z"},
		{`"2026-01-02T15:04:05,5-0730"`, "", "2026-01-02T22:34:05.5Z"},
		{`"2026-01-02 15:04:05"`, "", "2026-01-02T06:04:05Z"},
		{`"2026-01-02T15:04:05.1234567899Z"`, "", "2026-01-02T15:04:05.123456789Z"},
		{`"0000-02-29T00:00:00Z"`, "", "0000-02-29T00:00:00Z"},
		{`"2026-13-02T15:04:05Z"`, "", ""},
		{`"2026-01-02T15:61:05Z"`, "", ""},
		{`"2026-01-02T15:04:05+09"`, "", ""},
		{`"2026-01-02T15:04:05 CET"`, "", ""},
		{`"2026-01-02T15:04:05*09:00"`, "", ""},
		{`"2026-01-02"`, "", ""},
		{`"noon"`, "", ""},
		{`1767366245`, nib.TimeUnix, "2026-01-02T15:04:05Z"},
		{`1767366245.25`, "", "2026-01-02T15:04:05.25Z"},
		{`1767366245123`, "", "2026-01-02T15:04:05.123Z"},
		{`1767366245123456`, "", "2026-01-02T15:04:05.123456Z"},
		{`1767366245123456789`, "", "2026-01-02T15:04:05.123456789Z"},
		{`9223372036854775807`, nib.TimeUnixNano, "2262-04-11T23:47:16.854775807Z"},
		{`9223372036854775808`, nib.TimeUnixNano, ""},
		{`12345678901234567890`, nib.TimeUnixNano, ""},
		{`1000`, nib.TimeUnixMilli, "1970-01-01T00:00:01Z"},
		{`1000`, nib.TimeUnixMicro, "1970-01-01T00:00:00.001Z"},
		{`-1.5`, nib.TimeUnix, "1969-12-31T23:59:58.5Z"},
		{`1e9`, nib.TimeUnix, ""},
		{`null`, "", ""},
		{`{}`, "", ""},
	} {
		got, ok := linevalue.ParseTime([]byte(tt.value), tt.format, tokyo)
		if text := got.UTC().Format(time.RFC3339Nano); ok != (tt.want != "") || ok && text != tt.want {
			t.Errorf("%s as %q: got %s, %v, want %s", tt.value, tt.format, text, ok, tt.want)
		}
	}
}
