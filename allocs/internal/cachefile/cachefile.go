// SPDX-License-Identifier: Apache-2.0

// Package cachefile keeps results as JSON in files, which several processes may
// share. What it keeps can be computed again, so its errors cost only time.
package cachefile

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Read reads what Write has stored in a file, and reports whether it is there.
// It never is for the name "".
func Read(name string, into any) bool {
	text, err := os.ReadFile(name)
	return name != "" && err == nil && json.Unmarshal(text, into) == nil
}

// Write stores a result in a file, whose directory it creates. It replaces the
// file as a whole. The name "" stores nothing.
func Write(name string, what any) {
	text, err := json.Marshal(what)
	if name == "" || err != nil || os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), name) != nil {
		os.Remove(f.Name())
	}
}
