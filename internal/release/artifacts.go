// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// targets are the systems for which binaries are made.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// artifacts makes an archive of each program for each system, with the licenses
// and a list (CycloneDX) of its contents, and checksums. The binaries are
// identical to those of "CGO_ENABLED=0 go install -trimpath PROGRAM@VERSION"
// with the same release of Go.
func (s *staged) artifacts(work, dist string) error {
	if !filepath.IsAbs(dist) {
		dist = filepath.Join(s.origin, dist)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	u, err := newUser(s, filepath.Join(work, "build"))
	if err != nil {
		return err
	}
	for _, target := range targets {
		start := time.Now()
		if err := u.binaries(target, dist); err != nil {
			return err
		}
		fmt.Printf("ok     binaries for %s (%.1f s)\n", target, time.Since(start).Seconds())
	}
	if err := u.reproduce(work, dist); err != nil {
		return err
	}
	if err := u.sboms(dist); err != nil {
		return err
	}
	if err := u.archives(dist); err != nil {
		return err
	}
	return checksums(dist)
}

// binaryName returns the name of a program among those of all systems.
func binaryName(folder, version, target string) string {
	return programName(path.Base(folder)+"_"+version+"_"+strings.ReplaceAll(target, "/", "_"), target)
}

// programName returns the name of a program on a system.
func programName(folder, target string) string {
	if strings.HasPrefix(target, "windows/") {
		return path.Base(folder) + ".exe"
	}
	return path.Base(folder)
}

// binaries builds the programs for a system.
func (u *user) binaries(target, dist string) error {
	for _, folder := range installed {
		text, err := u.binary(folder, target)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dist, binaryName(folder, u.version, target)), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// binary builds a program and returns it.
func (u *user) binary(folder, target string) ([]byte, error) {
	system, machine, _ := strings.Cut(target, "/")
	cross := *u
	setting := []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + machine}
	cross.env, cross.online = append(slices.Clone(u.env), setting...), append(slices.Clone(u.online), setting...)
	if _, err := cross.run(".", "go", "install", pathOf(folder)+"@"+u.version); err != nil {
		return nil, err
	}
	name := programName(folder, target)
	if target != runtime.GOOS+"/"+runtime.GOARCH {
		name = filepath.Join(system+"_"+machine, name)
	}
	return os.ReadFile(filepath.Join(u.bin(), name))
}

// reproduce builds a program again, in another directory and with an empty
// build cache, and compares it.
func (u *user) reproduce(work, dist string) error {
	target := runtime.GOOS + "/" + runtime.GOARCH
	again, err := newUser(u.staged, filepath.Join(work, "build-again"))
	if err != nil {
		return err
	}
	cache := "GOCACHE=" + filepath.Join(work, "cache")
	again.env, again.online = append(again.env, cache), append(again.online, cache)
	for _, folder := range installed {
		want, err := os.ReadFile(filepath.Join(dist, binaryName(folder, u.version, target)))
		if err != nil {
			return err
		}
		got, err := again.binary(folder, target)
		if err != nil {
			return err
		}
		if sha256.Sum256(got) != sha256.Sum256(want) {
			return fmt.Errorf("%s: built twice, the binaries differ", folder)
		}
	}
	fmt.Println("ok     binaries are the same when built again elsewhere")
	return nil
}

// checksums writes SHA256SUMS, for sha256sum -c.
func checksums(dist string) error {
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dist, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(b), e.Name())
	}
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(text.String()), 0o644)
}
