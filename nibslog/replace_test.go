// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib/nibslog"
)

// lineOf returns the line that a handler with replace writes for a record with
// attrs, after steps.
func lineOf(replace func([]string, slog.Attr) slog.Attr, steps []step, attrs ...slog.Attr) string {
	var b bytes.Buffer
	c := trial{time: time.Unix(1, 0).UTC(), message: "m"}
	c.run(nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace}), steps, attrs)
	return b.String()
}

func TestReplaceAttrSeesGroupsAndAttributesInOrder(t *testing.T) {
	var got []string
	replace := func(groups []string, a slog.Attr) slog.Attr {
		got = append(got, fmt.Sprintf("%q %v %v", groups, groups == nil, a))
		return a
	}
	lineOf(replace, []step{
		{attrs: []slog.Attr{slog.Int("a", 1), slog.Group("empty")}},
		{group: "g"},
		{attrs: []slog.Attr{slog.Int("b", 2)}},
		{group: "h"},
	},
		slog.Group("i", slog.Any("c", valuer{slog.IntValue(3)}), slog.Group("", slog.Int("d", 4))),
		slog.Group("gone", slog.Attr{}),
		slog.Int("e", 5),
	)
	want := []string{
		`[] false a=1`,
		`["g"] false b=2`,
		`[] true time=1970-01-01 00:00:01 +0000 UTC`,
		`[] true level=INFO`,
		`[] true msg=m`,
		`["g" "h" "i"] false c=3`,
		`["g" "h" "i"] false d=4`,
		`["g" "h" "gone"] false =<nil>`,
		`["g" "h"] false e=5`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReplaceAttrDecidesAboutTheLine(t *testing.T) {
	const head = `{"time":"1970-01-01T00:00:01Z","level":"INFO","msg":"m"`
	for _, tt := range []struct {
		name    string
		replace func([]string, slog.Attr) slog.Attr
		steps   []step
		attrs   []slog.Attr
		want    string
	}{
		{"key and kind of built-in ones", func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "time":
				return slog.Int64("ts", a.Value.Time().Unix())
			case "level":
				return slog.String("severity", a.Value.Any().(slog.Level).String()+"!")
			case "msg":
				return slog.Group("text", "en", a.Value.String())
			}
			return a
		}, nil, []slog.Attr{slog.Int("a", 1)}, `{"ts":1,"severity":"INFO!","text":{"en":"m"},"a":1}`},
		{"all removed", func([]string, slog.Attr) slog.Attr { return slog.Attr{} },
			[]step{{group: "g"}}, []slog.Attr{slog.Int("a", 1)}, `{}`},
		{"a group loses all", func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return slog.Attr{}
			}
			return a
		}, nil, []slog.Attr{slog.Group("g", "a", 1), slog.Int("b", 2)}, head + `,"b":2}`},
		{"bound and in groups", keep,
			[]step{{attrs: []slog.Attr{slog.Int("a", 1)}}, {group: "g"}, {attrs: []slog.Attr{slog.Int("b", 2)}}, {group: "h"}}, nil,
			head + `,"a":1,"g":{"b":2}}`},
		{"a LogValuer is returned", func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "a" {
				a.Value = slog.AnyValue(valuer{slog.GroupValue(slog.Int("b", 2))})
			}
			return a
		}, nil, []slog.Attr{slog.Int("a", 1)}, head + `,"a":{"b":2}}`},
		{"a panic", func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "a" || a.Key == "msg" {
				panic("boom")
			}
			return a
		}, nil, []slog.Attr{slog.Int("a", 1)}, `{"time":"1970-01-01T00:00:01Z","level":"INFO","msg":"!PANIC: boom","a":"!PANIC: boom"}`},
		{"a field with the key of a built-in one", func(groups []string, a slog.Attr) slog.Attr {
			if groups == nil && a.Key == "msg" {
				a.Key = "text"
			}
			return a
		}, []step{{attrs: []slog.Attr{slog.String("level", "FATAL")}}}, []slog.Attr{slog.Int("text", 1), slog.Int("msg", 2)},
			`{"time":"1970-01-01T00:00:01Z","level":"INFO","text":"m","field.level":"FATAL","field.text":1,"msg":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := lineOf(tt.replace, tt.steps, tt.attrs...), tt.want+"\n"; got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

func TestWithAttrsKeepsNothingThatTheCallerMayChange(t *testing.T) {
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
		var b bytes.Buffer
		values := []int{1, 2}
		attrs := []slog.Attr{slog.Any("v", values), slog.Group("g", slog.Any("p", &values[0]))}
		h := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace}).WithAttrs(attrs)
		values[0], attrs[1] = 9, slog.Int("v", 9)
		if got, want := handle(h, &b), `"v":[1,2],"g":{"p":1}`; got != want {
			t.Errorf("replace %v: got %s, want %s", replace != nil, got, want)
		}
	}
}

func TestALineDoesNotChangeWhatIsBound(t *testing.T) {
	var b bytes.Buffer
	h := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == "msg" && a.Value.String() == "as a" {
			a.Key = "a"
		}
		return a
	}}).WithAttrs([]slog.Attr{slog.Int("a", 1)})
	for _, msg := range []string{"as a", "plain"} {
		_ = h.Handle(context.Background(), slog.NewRecord(time.Time{}, 0, msg, 1))
	}
	want := `{"level":"INFO","a":"as a","field.a":1}
{"level":"INFO","msg":"plain","a":1}
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
