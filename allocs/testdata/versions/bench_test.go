// SPDX-License-Identifier: Apache-2.0

// The package has another name, so that the hot paths are compiled as they are
// for any program: without these files.
package versions_test

import (
	"encoding/json"
	"io/ioutil"
	"os"
	"runtime"
	"testing"

	"example.com/versions"
)

// paths are called through variables: a function that is inlined into the loop
// of a benchmark can allocate differently.
var paths = map[string]func(string){
	"FreshDirect":     versions.FreshDirect,
	"FreshInterface":  versions.FreshInterface,
	"HiddenInterface": versions.HiddenInterface,
	"PoolDirect":      versions.PoolDirect,
	"PoolInterface":   versions.PoolInterface,
	"PoolSlice":       versions.PoolSlice,
	"ByPointer":       versions.ByPointer,
	"ByValue":         versions.ByValue,
	"SinkDirect":      versions.SinkDirect,
	"SinkInterface":   versions.SinkInterface,
	"AnyKept":         versions.AnyKept,
	"AnySwitched":     versions.AnySwitched,
	"Constant":        versions.Constant,
	"Sized":           versions.Sized,
	"Appended":        versions.Appended,
	"Returned":        versions.Returned,
	"Sorted":          versions.Sorted,
	"Literal":         versions.Literal,
	"Deferred":        versions.Deferred,
	"Caller":          versions.Caller,
}

// name is not known to the compiler, and longer than what is free of charge.
var name = string([]byte("somebody"))

func run(b *testing.B, f func(string)) {
	for i := 0; i < b.N; i++ {
		f(name)
	}
}

func BenchmarkFreshDirect(b *testing.B)     { run(b, paths["FreshDirect"]) }
func BenchmarkFreshInterface(b *testing.B)  { run(b, paths["FreshInterface"]) }
func BenchmarkHiddenInterface(b *testing.B) { run(b, paths["HiddenInterface"]) }
func BenchmarkPoolDirect(b *testing.B)      { run(b, paths["PoolDirect"]) }
func BenchmarkPoolInterface(b *testing.B)   { run(b, paths["PoolInterface"]) }
func BenchmarkPoolSlice(b *testing.B)       { run(b, paths["PoolSlice"]) }
func BenchmarkByPointer(b *testing.B)       { run(b, paths["ByPointer"]) }
func BenchmarkByValue(b *testing.B)         { run(b, paths["ByValue"]) }
func BenchmarkSinkDirect(b *testing.B)      { run(b, paths["SinkDirect"]) }
func BenchmarkSinkInterface(b *testing.B)   { run(b, paths["SinkInterface"]) }
func BenchmarkAnyKept(b *testing.B)         { run(b, paths["AnyKept"]) }
func BenchmarkAnySwitched(b *testing.B)     { run(b, paths["AnySwitched"]) }
func BenchmarkConstant(b *testing.B)        { run(b, paths["Constant"]) }
func BenchmarkSized(b *testing.B)           { run(b, paths["Sized"]) }
func BenchmarkAppended(b *testing.B)        { run(b, paths["Appended"]) }
func BenchmarkReturned(b *testing.B)        { run(b, paths["Returned"]) }
func BenchmarkSorted(b *testing.B)          { run(b, paths["Sorted"]) }
func BenchmarkLiteral(b *testing.B)         { run(b, paths["Literal"]) }
func BenchmarkDeferred(b *testing.B)        { run(b, paths["Deferred"]) }
func BenchmarkCaller(b *testing.B)          { run(b, paths["Caller"]) }

// TestCounts counts without any tool and writes what one call allocates to the
// file that VERSIONS_COUNTS names. What other goroutines do can only add, so the
// least of many windows counts.
func TestCounts(t *testing.T) {
	out := os.Getenv("VERSIONS_COUNTS")
	if out == "" {
		t.Skip("VERSIONS_COUNTS does not name a file to write to")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	counts := map[string]float64{}
	for id, f := range paths {
		const calls, windows = 1000, 20
		least := uint64(1) << 62
		for w := 0; w < windows; w++ {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := 0; i < calls; i++ {
				f(name)
			}
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n < least {
				least = n
			}
		}
		counts[id] = float64(least) / calls
	}
	text, err := json.Marshal(counts)
	if err != nil {
		t.Fatal(err)
	}
	if err := ioutil.WriteFile(out, text, 0666); err != nil {
		t.Fatal(err)
	}
}
