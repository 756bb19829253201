// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
)

// The context carries a logger, as behind nibhttp.Middleware.
func TestLinesHaveTheFieldsOfTheContextsLogger(t *testing.T) {
	var out bytes.Buffer
	l := nib.New(&out)
	const ids = `"request_id":"r1","span_id":"00f067aa0ba902b7"`
	ctx := nib.NewContext(t.Context(), l.With(func(e *nib.Event) {
		e.Str("request_id", "r1").Str("span_id", "00f067aa0ba902b7")
	}))
	for _, tt := range []struct {
		name string
		h    slog.Handler
		want string
	}{
		{"NewHandler", nibslog.NewHandler(l), ids + `,"n":1,"message":"m"}`},
		{"WithAttrs", nibslog.NewHandler(l).WithAttrs([]slog.Attr{slog.Int("a", 1)}), `"a":1,` + ids + `,"n":1,"message":"m"}`},
		{"WithGroup", nibslog.NewHandler(l).WithGroup("g"), `"g":{"n":1},` + ids + `,"message":"m"}`},
		{"NewJSONHandler", nibslog.NewJSONHandler(&out, nil), `"msg":"m",` + ids + `,"n":1}`},
		{"NewJSONHandler, WithGroup", nibslog.NewJSONHandler(&out, nil).WithGroup("g"), `"msg":"m","g":{"n":1},` + ids + `}`},
		{"ReplaceAttr", nibslog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: keep}), `"msg":"m","n":1,` + ids + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			slog.New(tt.h).InfoContext(ctx, "m", "n", 1)
			if line, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(line, tt.want) {
				t.Errorf("\n got %s\nwant %s", line, tt.want)
			}
		})
	}
}

// The logger of the context has another layout, so these keys are free there.
func TestNoFieldOfTheContextPassesForABuiltInOne(t *testing.T) {
	var out bytes.Buffer
	ctx := nib.NewContext(t.Context(), nib.New(&out).With(func(e *nib.Event) {
		e.Str("msg", "another").Str("severity", "FATAL").Str("id", "r1").Int("n", 1)
	}))
	severity := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.LevelKey {
			a.Key = "severity"
		}
		return a
	}
	for _, tt := range []struct {
		replace func([]string, slog.Attr) slog.Attr
		want    string
	}{
		{nil, `"msg":"m","field.msg":"another","severity":"FATAL","id":"r1","n":1,"n":1}`},
		{keep, `"msg":"m","n":1,"field.msg":"another","severity":"FATAL","id":"r1"}`},
		{severity, `"severity":"INFO","msg":"m","n":1,"field.msg":"another","field.severity":"FATAL","id":"r1"}`},
	} {
		out.Reset()
		slog.New(nibslog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: tt.replace})).InfoContext(ctx, "m", "n", 1)
		if line, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(line, tt.want) {
			t.Errorf("\n got %s\nwant %s", line, tt.want)
		}
	}
}
