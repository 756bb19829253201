// SPDX-License-Identifier: Apache-2.0

package slogjson

import "testing"

// repeat is not inlined, so that each call runs as it was compiled on its own.
//
//go:noinline
func repeat(b *testing.B, f func()) {
	b.ReportAllocs()
	for range b.N {
		f()
	}
}

func BenchmarkMessage(b *testing.B)       { repeat(b, Message) }
func BenchmarkPairs(b *testing.B)         { repeat(b, Pairs) }
func BenchmarkAttrs(b *testing.B)         { repeat(b, Attrs) }
func BenchmarkLogAttrs(b *testing.B)      { repeat(b, LogAttrs) }
func BenchmarkSixAttrs(b *testing.B)      { repeat(b, SixAttrs) }
func BenchmarkDisabled(b *testing.B)      { repeat(b, Disabled) }
func BenchmarkDisabledAttrs(b *testing.B) { repeat(b, DisabledAttrs) }
func BenchmarkBound(b *testing.B)         { repeat(b, Bound) }
func BenchmarkGrouped(b *testing.B)       { repeat(b, Grouped) }
func BenchmarkGroup(b *testing.B)         { repeat(b, Group) }
func BenchmarkError(b *testing.B)         { repeat(b, Error) }
func BenchmarkAnyError(b *testing.B)      { repeat(b, AnyError) }
func BenchmarkAnySlice(b *testing.B)      { repeat(b, AnySlice) }
func BenchmarkAnyStruct(b *testing.B)     { repeat(b, AnyStruct) }
func BenchmarkValuer(b *testing.B)        { repeat(b, Valuer) }
func BenchmarkSource(b *testing.B)        { repeat(b, Source) }
func BenchmarkReplaced(b *testing.B)      { repeat(b, Replaced) }
func BenchmarkWith(b *testing.B)          { repeat(b, With) }
func BenchmarkWithGroup(b *testing.B)     { repeat(b, WithGroup) }
func BenchmarkTimes(b *testing.B)         { repeat(b, Times) }
func BenchmarkGuarded(b *testing.B)       { repeat(b, Guarded) }
func BenchmarkFile(b *testing.B)          { repeat(b, File) }
