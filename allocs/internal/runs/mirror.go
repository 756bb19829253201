// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// compile makes a test binary that holds the files that measure: through an
// overlay or, on releases that do not have them, in a mirror of the module.
func (b *Binary) compile(ctx context.Context, flags ...string) error {
	dir, tc := b.dir, b.tc
	if tc.Overlay() {
		flags = append(flags, "-overlay", b.overlay)
	} else {
		b.mirrored = b.Path + ".mirror"
		root := b.Path + ".root"
		own, std := map[string]string{}, map[string]string{}
		for path, from := range b.added {
			if strings.HasPrefix(path, tc.GOROOT+string(filepath.Separator)) {
				std[path] = from
			} else {
				own[path] = from
			}
		}
		if err := Mirror(b.dir, b.mirrored, own); err != nil {
			return err
		}
		if err := mirrorRoot(tc.GOROOT, root, std); err != nil {
			return err
		}
		dir, tc = b.mirrored, tc.Writing().Rooted(root)
	}
	_, err := tc.Go(ctx, dir, append(append([]string{"test", "-c", "-vet=off"}, flags...), b.Package.ImportPath)...)
	return err
}

// original returns the name that a file of the mirror has in the module.
func (b *Binary) original(file string) string {
	if b.mirrored == "" {
		return file
	}
	return Original(file, b.mirrored, b.dir)
}

// Original names a file or directory in a mirror as it is named in the module.
func Original(file, mirror, module string) string {
	if rest, ok := strings.CutPrefix(file, mirror); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return module + rest
	}
	return file
}

// relative matches replacements by directories relative to the module.
var relative = regexp.MustCompile(`(?m)=>[ \t]+(\.\.?/\S*|\.\.)`)

// Mirror makes a directory that looks like the module to the go command: links
// to its files, and added files, by path. go.mod and go.sum are copies, as old
// go commands write to them. Nothing is written to the module.
func Mirror(module, to string, added map[string]string) error {
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if d.IsDir() {
			if rel != "." && skipped(path, d.Name()) {
				return filepath.SkipDir
			}
			return os.MkdirAll(at, 0o755)
		}
		if rel == "go.mod" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(at, relative.ReplaceAllFunc(text, func(m []byte) []byte {
				dir := strings.TrimSpace(strings.TrimPrefix(string(m), "=>"))
				return []byte("=> " + filepath.Join(module, filepath.FromSlash(dir)))
			}), 0o644)
		}
		if rel == "go.sum" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(at, text, 0o644)
		}
		return link(path, at)
	})
	if err != nil {
		return err
	}
	for path, from := range added {
		rel, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		if err := link(from, filepath.Join(to, rel)); err != nil {
			return err
		}
	}
	return nil
}

// mirrorRoot makes a directory that looks like a GOROOT with some files
// replaced: links to the entries of root, except in the directories of these
// files.
func mirrorRoot(root, to string, files map[string]string) error {
	changed := map[string]bool{root: true}
	for path := range files {
		for dir := filepath.Dir(path); dir != root; dir = filepath.Dir(dir) {
			changed[dir] = true
		}
	}
	at := func(path string) string { return to + strings.TrimPrefix(path, root) }
	for dir := range changed {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			return err
		}
	}
	for path, from := range files {
		if err := link(from, at(path)); err != nil {
			return err
		}
	}
	for dir := range changed {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries { // keep existing entries
			path := filepath.Join(dir, e.Name())
			if err := link(path, at(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipped reports whether the go command leaves the directory out of the
// module.
func skipped(path, name string) bool {
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func link(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	return os.Symlink(from, to)
}
