// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// inputs are the environment variables and files of the module that test
// binaries have read, each with a checksum, as the go command records them for
// cached test results.
type inputs map[string]string

// add reads the log of a process with the working directory dir. Like the go
// command, it ignores files outside of root.
func (in inputs) add(log, dir, root string) {
	text, _ := os.ReadFile(log) // a process that was killed has written none
	for line := range strings.Lines(string(text)) {
		op, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") {
			continue
		}
		if op == "getenv" {
			if !strings.HasPrefix(name, "NIB_ALLOCS_") {
				in.note("env " + name)
			}
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		switch rel, err := filepath.Rel(root, name); {
		case op == "chdir":
			dir = name
		case op != "open" && op != "stat", err != nil, !filepath.IsLocal(rel):
		default:
			in.note("file " + name)
		}
	}
}

func (in inputs) note(key string) { in[key] = inputSum(key) }

// same reports whether all inputs are unchanged.
func (in inputs) same() bool {
	now := inputs{}
	for key := range in {
		now.note(key)
	}
	return maps.Equal(in, now)
}

// inputSum returns a checksum of a variable, or of the file or directory at a
// path.
func inputSum(key string) string {
	h := sha256.New()
	kind, name, _ := strings.Cut(key, " ")
	if kind == "env" {
		value, set := os.LookupEnv(name)
		fmt.Fprint(h, set, value)
		return hex.EncodeToString(h.Sum(nil))
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "none"
	case info.IsDir():
		entries, _ := os.ReadDir(name)
		for _, e := range entries {
			fmt.Fprintf(h, "%s %q\n", e.Type(), e.Name())
		}
	case info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return "none"
		}
		defer f.Close()
		if _, err := io.Copy(h, f); err != nil {
			return "none"
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
