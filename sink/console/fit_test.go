// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

func TestMain(m *testing.M) {
	if err := os.Unsetenv("COLUMNS"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestRows(t *testing.T) {
	const head, indent = "             INFO  ", "                     " // 19 and 21 columns
	long := strings.Repeat("x", 60)
	for _, tt := range []struct {
		name   string
		config Config
		line   string
		want   []string
	}{
		{"aligned where there is room", Config{Width: 80}, `{"level":"info","message":"m","a":1}`,
			[]string{head + "m" + strings.Repeat(" ", 25) + "a=1"}},
		{"aligned to the last column", Config{Width: 48}, `{"level":"info","message":"m","a":123456789}`,
			[]string{head + "m" + strings.Repeat(" ", 17) + "a=123456789"}},
		{"aligned a step to the left", Config{Width: 47}, `{"level":"info","message":"m","a":123456789}`,
			[]string{head + "m" + strings.Repeat(" ", 9) + "a=123456789"}},
		{"not aligned where there is no room", Config{Width: 39}, `{"level":"info","message":"m","a":123456789}`,
			[]string{head + "m  a=123456789"}},
		{"a given MessageWidth holds where there is room", Config{Width: 80, MessageWidth: 3}, `{"level":"info","message":"m","a":1}`,
			[]string{head + "m    a=1"}},
		{"further rows", Config{Width: 50}, `{"level":"info","message":"m","caller":"a.go:1","a":"aaaaaaaaaaaaaaaaaaaa","b":[1,2],"c":"ccccccccccccccccccc"}`,
			[]string{head + "m  a=aaaaaaaaaaaaaaaaaaaa", indent + "b=[1 2] c=ccccccccccccccccccc", indent + "a.go:1"}},
		{"a field that is longer than a row", Config{Width: 50}, `{"level":"info","message":"m","a":"` + long + `","b":1,"c":"cccccccccccccccccccc"}`,
			[]string{head + "m  a=" + long + " b=1", indent + "c=cccccccccccccccccccc"}},
		{"two fields that are longer than a row", Config{Width: 50},
			`{"level":"info","message":"m","a":"` + long + `","b":"` + long +
				`","c":1,"d":"` + long + `"}`,
			[]string{head + "m  a=" + long, indent + "b=" + long + " c=1", indent + "d=" + long}},
		{"a message that is longer than a row", Config{Width: 50}, `{"level":"info","message":"` + long + `","a":1,"c":"cccccccccccccccccccc"}`,
			[]string{head + long + "  a=1", indent + "c=cccccccccccccccccccc"}},
		{"a narrow terminal", Config{Width: 40}, `{"level":"info","message":"m","a":"aaaaaaaaaaaaaaaaa","b":1}`,
			[]string{head + "m", "    a=aaaaaaaaaaaaaaaaa b=1"}},
		{"no message", Config{Width: 40}, `{"a":"aaaaaaaaaaaaaaaa","b":1,"c":2}`,
			[]string{"                   a=aaaaaaaaaaaaaaaa", "    b=1 c=2"}},
		{"a time without a level", Config{Width: 40, TimeZone: time.UTC}, `{"time":"2026-01-02T15:04:05Z","a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`,
			[]string{"15:04:05.000", "    a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
		{"a time without a level, and several rows", Config{Width: 40, TimeZone: time.UTC}, `{"time":"2026-01-02T15:04:05Z","a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","b":"bbbbbbbbbb"}`,
			[]string{"15:04:05.000", "    a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "    b=bbbbbbbbbb"}},
		{"rows and blocks", Config{Width: 50}, `{"level":"info","message":"m\nn","a":"aaaaaaaaaaaaaaaaaaaa","b":"bbbbb"}`,
			[]string{head + "m  a=aaaaaaaaaaaaaaaaaaaa", indent + "b=bbbbb", "    │ n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.Color = ColorNever
			got := string(New(new(bytes.Buffer), tt.config).Render(nil, []byte(tt.line)))
			if want := strings.Join(tt.want, "\n") + "\n"; got != want {
				t.Errorf("\n got\n%swant\n%s", got, want)
			}
		})
	}
}

// For all widths of the terminal and lengths of message and fields, a line that
// fits is not broken, and the rows of a broken line fit.
func TestNoRowIsWiderThanTheTerminal(t *testing.T) {
	for columns := 30; columns <= 130; columns++ {
		for length := range 50 {
			line := fmt.Sprintf(`{"time":"2026-01-02T15:04:05Z","level":"info","caller":"a/b.go:1","k":%q,"n":1,"米":"🍊","message":%q}`,
				strings.Repeat("v", columns%7), strings.Repeat("m", min(length, columns-20)))
			whole := New(new(bytes.Buffer), Config{Color: ColorNever, MessageWidth: -1, TimeZone: time.UTC}).Render(nil, []byte(line))
			for _, color := range []Color{ColorNever, ColorAlways} {
				shown := New(new(bytes.Buffer), Config{Color: color, Width: columns, TimeZone: time.UTC}).Render(nil, []byte(line))
				rows := bytes.Split(bytes.TrimSuffix(shown, []byte("\n")), []byte("\n"))
				for _, row := range rows {
					if width(row) > columns {
						t.Fatalf("%d columns: a row of %d:\n%s", columns, width(row), shown)
					}
				}
				if fits := width(whole)-1 <= columns; fits != (len(rows) == 1) {
					t.Fatalf("%d columns: %d rows for a line of %d:\n%s", columns, len(rows), width(whole)-1, shown)
				}
			}
		}
	}
}

func TestTheWidthIsThatOf(t *testing.T) {
	for _, tt := range []struct {
		name       string
		configured int
		columns    string
		want       int
	}{
		{"the configuration", 90, "100", 90},
		{"none, by the configuration", -1, "100", -1},
		{"COLUMNS", 0, "100", 100},
		{"the terminal", 0, "", 0},
		{"the terminal, COLUMNS being no number", 0, "wide", 0},
		{"COLUMNS, which is 1", 0, "1", 1},
		{"COLUMNS, which is the most", 0, "10000", 10000},
		{"the terminal, COLUMNS being 0", 0, "0", 0},
		{"the terminal, COLUMNS being beyond reason", 0, "10001", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(key string) string { return map[string]string{"COLUMNS": tt.columns}[key] }
			if got := fixedWidth(tt.configured, getenv); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestRowsAreNotAllocated(t *testing.T) {
	lines := demoLines(t)
	s := New(discard{}, Config{Color: ColorAlways, Width: 60})
	r := &nib.Record{Time: 1, Level: nib.LevelWarn}
	alloctest.Zero(t, func() {
		for _, line := range lines {
			r.Line = line
			_ = s.WriteRecord(r)
		}
	})
}

// A line of very many fields takes time proportional to its length, also in
// rows.
func TestManyRowsMoveEachByteOnce(t *testing.T) {
	const fields = 200_000
	line := `{"k":1` + strings.Repeat(`,"key":"value"`, fields) + `}`
	shown := New(new(bytes.Buffer), Config{Color: ColorNever, Width: 40}).Render(nil, []byte(line))
	if rows := bytes.Count(shown, []byte("\n")); rows < fields/4 || rows > fields {
		t.Errorf("%d rows", rows)
	}
}
