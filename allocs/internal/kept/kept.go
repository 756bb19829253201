// SPDX-License-Identifier: Apache-2.0

// Package kept keeps results between runs, in files whose names are checksums
// of all that the results depend on.
package kept

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Age is the time after which a result that no run has needed is removed.
const Age = 5 * 24 * time.Hour

// Read reads the result at place into v, and reports whether there is one.
func Read(place string, v any) bool {
	text, err := os.ReadFile(place)
	if err != nil || json.Unmarshal(text, v) != nil {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(place, now, now) // otherwise the result is found again after Age
	return true
}

// Write writes a result, and removes old ones beside it. An error only means
// that the result must be found again.
func Write(place string, v any) {
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
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > Age {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
