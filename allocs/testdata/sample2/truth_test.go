// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
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

// nearest returns the file and line of the innermost frame of this package
// when a case is on the stack, or "".
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
		if at == "" && filepath.Dir(f.File) == here && !strings.HasSuffix(base, "_test.go") {
			at = base + ":" + strconv.Itoa(f.Line)
		}
		inCase = inCase || caseName.MatchString(f.Function)
		if !more {
			break
		}
	}
	if !inCase {
		return ""
	}
	return at
}

// here is the directory of the package: what is inlined from elsewhere can
// have a name that begins as that of the package.
var here = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}()

// caseName matches the functions of cases and what is in them.
var caseName = regexp.MustCompile(`^example\.com/sample2\.[D-J]\d\d`)
