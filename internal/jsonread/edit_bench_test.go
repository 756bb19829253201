// SPDX-License-Identifier: Apache-2.0

package jsonread

import "testing"

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
			{"shorten", func() { dst = Shorten(dst[:0], line.bytes, len(line.bytes)-20, classOf, &s) }},
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
