// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Kept is what the runs of a test binary have shown. It is the result of the
// next run, too, as long as the binary is the same, and what it reads: the
// variables and, within the module, the files that package testing notes for
// the cache of go test.
type Kept struct {
	Results []Result
	Visited Visited
	Inputs  map[string]string // what was read, and its state then
}

// Place returns the file below dir for the results of the binary, "" if dir is
// "" or the binary cannot be read.
func (b *Binary) Place(dir string, o Options, packages []string) string {
	code, err := os.ReadFile(b.Path)
	if err != nil || dir == "" {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintln(sum, b.Names, o.Budget, o.Hang, packages)
	sum.Write(code)
	return filepath.Join(dir, "runs", fmt.Sprintf("%x", sum.Sum(nil)))
}

// Load reads what was kept, and reports whether it is valid.
func (b *Binary) Load(place string) (k Kept, ok bool) {
	text, err := os.ReadFile(place)
	if err != nil || json.Unmarshal(text, &k) != nil || k.Visited == nil {
		return k, false
	}
	now := time.Now()
	_ = os.Chtimes(place, now, now) // otherwise the result is found again after keepAge
	for input, then := range k.Inputs {
		if stateOf(input) != then {
			return k, false
		}
	}
	for i := range k.Results {
		k.Results[i].Package = b.Package.ImportPath
	}
	return k, true
}

// Keep writes results that another run would show again: without a failure but
// that it is too slow, and read from nothing but what is noted.
func (b *Binary) Keep(place string, results []Result, visited Visited) {
	for _, r := range results {
		if r.Failed != "" && !r.Slow {
			return
		}
	}
	if place != "" && b.read != nil {
		write(place, Kept{results, visited, b.read})
	}
}

// note adds what a process has read, according to the log that package testing
// has written. Without a log, or if the process has changed its directory,
// nothing is known.
func (b *Binary) note(log string) {
	text, err := os.ReadFile(log)
	if err != nil || bytes.Contains(text, []byte("\nchdir ")) {
		b.read = nil
	}
	_ = os.Remove(log)
	if b.read == nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		op, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch op {
		case "open", "stat":
			if !filepath.IsAbs(name) {
				name = filepath.Join(b.Package.Dir, name)
			}
			if rest, err := filepath.Rel(b.dir, name); err != nil || !filepath.IsLocal(rest) {
				continue // as in go test
			}
		case "getenv":
		default:
			continue
		}
		b.read[op+" "+name] = stateOf(op + " " + name)
	}
}

// stateOf returns the state of an input.
func stateOf(input string) string {
	op, name, _ := strings.Cut(input, " ")
	if op == "getenv" {
		value, ok := os.LookupEnv(name)
		return fmt.Sprint(ok, value)
	}
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	if info.Mode().Type() == fs.ModeDir {
		return fmt.Sprint(info.ModTime().UnixNano())
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// keepAge is the time after which a result that no run has needed is removed.
const keepAge = 5 * 24 * time.Hour

// write writes a result, and removes old ones beside it. An error only means
// that the result must be found again.
func write(place string, v Kept) {
	dir := filepath.Dir(place)
	text, err := json.Marshal(v)
	if err != nil || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	if f, err := os.CreateTemp(dir, "new-"); err == nil {
		_, err = f.Write(text)
		if f.Close() != nil || err != nil || os.Rename(f.Name(), place) != nil {
			_ = os.Remove(f.Name())
		}
	}
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > keepAge {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
