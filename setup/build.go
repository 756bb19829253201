// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"io"
	"os"
	"runtime/debug"

	"github.com/nib-log/nib"
)

// addBuild says which program it is, for whoever has to find the source that a
// stack belongs to.
func addBuild(e *nib.Event) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	of := map[string]string{"path": info.Main.Path, "version": info.Main.Version, "go": info.GoVersion, "id": buildID()}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			of["revision"] = s.Value
		case "vcs.modified":
			of["modified"] = s.Value
		}
	}
	e.Dict("build", func(e *nib.Event) {
		for _, key := range []string{"id", "path", "version", "revision", "go"} {
			if of[key] != "" {
				e.Str(key, of[key])
			}
		}
		if of["modified"] == "true" {
			e.Bool("modified", true)
		}
	})
}

// buildID returns what "go tool buildid" says of the running program, or "". The
// linker puts it at the beginning of the code, between two marks.
func buildID() string {
	name := "/proc/self/exe" // also when the file has been replaced or removed
	if _, err := os.Lstat(name); err != nil {
		if name, err = os.Executable(); err != nil {
			return ""
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	_, id, _ := bytes.Cut(head, []byte("\xff Go build ID: \""))
	id, _, ok := bytes.Cut(id, []byte("\"\n \xff"))
	if !ok {
		return ""
	}
	return string(id)
}
