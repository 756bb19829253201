// SPDX-License-Identifier: Apache-2.0

package versions

import "testing"

// name is not known to the compiler, and longer than what is free of charge.
var name = string([]byte("somebody"))

func run(b *testing.B, f func(string)) {
	for i := 0; i < b.N; i++ {
		f(name)
	}
}

func BenchmarkFreshDirect(b *testing.B)     { run(b, FreshDirect) }
func BenchmarkFreshInterface(b *testing.B)  { run(b, FreshInterface) }
func BenchmarkHiddenInterface(b *testing.B) { run(b, HiddenInterface) }
func BenchmarkPoolDirect(b *testing.B)      { run(b, PoolDirect) }
func BenchmarkPoolInterface(b *testing.B)   { run(b, PoolInterface) }
func BenchmarkPoolSlice(b *testing.B)       { run(b, PoolSlice) }
func BenchmarkByPointer(b *testing.B)       { run(b, ByPointer) }
func BenchmarkByValue(b *testing.B)         { run(b, ByValue) }
func BenchmarkSinkDirect(b *testing.B)      { run(b, SinkDirect) }
func BenchmarkSinkInterface(b *testing.B)   { run(b, SinkInterface) }
func BenchmarkConstant(b *testing.B)        { run(b, Constant) }
func BenchmarkSized(b *testing.B)           { run(b, Sized) }
func BenchmarkAppended(b *testing.B)        { run(b, Appended) }
func BenchmarkReturned(b *testing.B)        { run(b, Returned) }
func BenchmarkSorted(b *testing.B)          { run(b, Sorted) }
func BenchmarkLiteral(b *testing.B)         { run(b, Literal) }
func BenchmarkDeferred(b *testing.B)        { run(b, Deferred) }
func BenchmarkCaller(b *testing.B)          { run(b, Caller) }

func BenchmarkAnyKept(b *testing.B) {
	for i := 0; i < b.N; i++ {
		AnyKept(name, i+1000)
	}
}

func BenchmarkAnySwitched(b *testing.B) {
	for i := 0; i < b.N; i++ {
		AnySwitched(name, i+1000)
	}
}
