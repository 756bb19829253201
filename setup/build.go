// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"

	"github.com/nib-log/nib"
)

// addBuild adds the version of the program, so that the source of a stack can
// be found.
func addBuild(e *nib.Event) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	of := map[string]string{"path": info.Main.Path, "version": info.Main.Version,
		"go": info.GoVersion, "id": buildID()}
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

// buildID returns the output of "go tool buildid" for the running program, or
// "".
func buildID() string {
	name := "/proc/self/exe" // works even if the file has been replaced or removed
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
	return findBuildID(head)
}

// findBuildID finds the build ID, which the linker puts at the beginning of a
// program: in ELF files in a note of type 4 and of the name "Go", in others
// between two marks.
func findBuildID(head []byte) string {
	note := append(binary.NativeEndian.AppendUint32(nil, 4), "Go\x00\x00"...)
	if i := bytes.Index(head, note); i >= 4 {
		size, id := binary.NativeEndian.Uint32(head[i-4:]), head[i+len(note):]
		return string(id[:min(uint64(size), uint64(len(id)))])
	}
	_, id, _ := bytes.Cut(head, []byte("\xff Go build ID: \""))
	id, _, ok := bytes.Cut(id, []byte("\"\n \xff"))
	if !ok {
		return ""
	}
	return string(id)
}
