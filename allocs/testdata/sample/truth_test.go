// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTruth writes down which lines of this package allocate in steady state:
// the profile at rate 1 over many runs of each case after many others. It knows
// nothing of the tool that is judged by it.
func TestTruth(t *testing.T) {
	out := os.Getenv("SAMPLE_TRUTH")
	if out == "" {
		t.Skip("SAMPLE_TRUTH names no file to write")
	}
	if runtime.MemProfileRate != 1 {
		t.Fatal("want GODEBUG=memprofilerate=1")
	}
	const runs = 1000
	truth := map[string]map[string]float64{}
	for _, c := range Cases {
		for range 300 {
			c.Run()
		}
		before := profile()
		for range runs {
			c.Run()
		}
		lines := map[string]float64{}
		for stack, n := range profile() {
			if n -= before[stack]; n < runs/50 {
				continue
			}
			if at := nearest(stack); at != "" {
				lines[at] += float64(n) / runs
			}
		}
		truth[c.Name] = lines
	}
	text, err := json.Marshal(truth)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func profile() map[[32]uintptr]int64 {
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 20000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		panic("too many records")
	}
	out := map[[32]uintptr]int64{}
	for _, r := range records[:n] {
		out[r.Stack0] += r.AllocObjects
	}
	return out
}

// nearest returns the file and line of the innermost frame of this package's
// cases, or "".
func nearest(stack [32]uintptr) string {
	n := 0
	for n < len(stack) && stack[n] != 0 {
		n++
	}
	inCase := false
	at := ""
	for frames := runtime.CallersFrames(stack[:n]); ; {
		f, more := frames.Next()
		base := filepath.Base(f.File)
		if at == "" && (base == "cases.go" || base == "logger.go") && strings.Contains(f.Function, "example.com/sample") {
			at = base + ":" + itoa(f.Line)
		}
		inCase = inCase || strings.HasPrefix(f.Function, "example.com/sample.C")
		if !more {
			break
		}
	}
	if !inCase {
		return ""
	}
	return at
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
