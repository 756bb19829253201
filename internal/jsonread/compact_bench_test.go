// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

var benchValue = func() []byte {
	type item struct {
		ID    int
		Name  string
		Tags  []string
		Score float64
		Inner map[string]any
	}
	var list []item
	for i := range 8 {
		list = append(list, item{i * 12345, "a name of usual length", []string{"x", "yy", "zzz"}, 12.75, map[string]any{"ok": true, "text": "用户登录失败"}})
	}
	b, _ := json.Marshal(list)
	return b
}()

var benchLine = []byte(`{"level":"info","time":"2024-02-29T01:02:03.456Z","logger":"http","method":"GET","path":"/v1/items/12345","status":200,` +
	`"size":5120,"duration":1.234,"remote":"10.0.0.1","tags":["a","b"],"message":"request finished"}` + "\n")

func BenchmarkAppendCompact(b *testing.B) {
	dst := make([]byte, 0, 8192)
	spaced, _ := json.MarshalIndent(json.RawMessage(benchValue), "", "  ")
	for _, tt := range []struct {
		name string
		src  []byte
	}{
		{"compact", benchValue}, {"indented", spaced}, {"text", []byte(`"` + strings.Repeat("plain text ", 100) + `"`)},
	} {
		b.Run("nib/"+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.src)))
			for b.Loop() {
				dst, _ = AppendCompact(dst[:0], tt.src, 32)
			}
		})
		b.Run("json/"+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.src)))
			var buf bytes.Buffer
			for b.Loop() {
				buf.Reset()
				_ = json.Compact(&buf, tt.src)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, ok := Lookup(benchLine, "status"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkValid(b *testing.B) {
	b.SetBytes(int64(len(benchValue)))
	for b.Loop() {
		Valid(benchValue)
	}
}

func BenchmarkLine(b *testing.B) {
	var dst []byte
	var s Scratch
	for _, line := range []struct {
		name  string
		bytes []byte
	}{{"usual", []byte(usualLine)}, {"busy", busyLine}, {"10000fields", manyFields}} {
		for _, f := range []struct {
			name string
			f    func()
		}{
			{"copy", func() { dst = append(dst[:0], line.bytes...) }},
			{"redact", func() { dst = Redact(dst[:0], line.bytes, testKeys) }},
			{"lastWins", func() { dst = Duplicates(dst[:0], line.bytes, LastWins, &s) }},
			{"rename", func() { dst = Duplicates(dst[:0], line.bytes, Rename, &s) }},
			{"shorten", func() {
				dst = Shorten(dst[:0], line.bytes, len(line.bytes)-20, classOf,
					&s)
			}},
		} {
			b.Run(line.name+"/"+f.name, func(b *testing.B) {
				b.SetBytes(int64(len(line.bytes)))
				for b.Loop() {
					f.f()
				}
			})
		}
	}
}
