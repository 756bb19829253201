// SPDX-License-Identifier: Apache-2.0

// Package cachefile keeps results as JSON in files, which several processes may
// share. The results can be computed again, so its errors cost only time.
package cachefile

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// Read reads a result that Write has stored in a file, and reports whether it
// exists. For the name "" it returns false.
func Read(name string, into any) bool {
	text, err := os.ReadFile(name)
	return name != "" && err == nil && json.Unmarshal(text, into) == nil
}

// Write stores a result in a file and creates the directory of the file. It
// replaces the file as a whole. The name "" stores nothing.
func Write(name string, what any) {
	text, err := json.Marshal(what)
	if name == "" || err != nil {
		return
	}
	Replace(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Replace replaces a file as a whole by the output of fill, and creates its
// directory. After an error, the file is unchanged.
func Replace(name string, fill func(io.Writer) error) {
	if os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return
	}
	err = fill(f)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), name) != nil {
		os.Remove(f.Name())
	}
}
