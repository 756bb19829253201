// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// tag checks a release, makes its binaries, and tags its modules: the root
// first, then those that require it. Without yes it prints the commands that
// change the repository.
func (r *repository) tag(version, dist string, yes bool) error {
	if err := r.mayTag(version); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "nib-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s, err := r.stage(filepath.Join(work, "nib"), version)
	if err != nil {
		return err
	}
	if err := s.try(work); err != nil {
		return err
	}
	if err := r.mayBreak(version); err != nil {
		return err
	}
	if err := s.artifacts(work, dist); err != nil {
		return err
	}
	commands, err := r.plan(version, yes)
	if err != nil {
		return err
	}
	for _, args := range commands {
		fmt.Println("git", shell(args))
		if !yes {
			continue
		}
		if out, err := r.command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	if !yes {
		fmt.Println("nothing was changed: make release VERSION=" + version + " RELEASE=-yes runs these commands")
	}
	fmt.Println("publish it with, in this order:")
	fmt.Println("git push origin HEAD")
	for _, folder := range r.order() {
		fmt.Println("git push origin", tagOf(folder, version))
	}
	return nil
}

// shell returns arguments quoted for a shell.
func shell(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if strings.ContainsAny(a, " \"'$") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plan returns the git commands of a release. With write it also updates the
// requirements, which the first of them commits.
func (r *repository) plan(version string, write bool) (commands [][]string, err error) {
	stale := false
	for _, m := range r.modules {
		for _, q := range m.Require {
			stale = stale || (q.Mod.Path == rootPath || strings.HasPrefix(q.Mod.Path, rootPath+"/")) && q.Mod.Version != version
		}
	}
	if stale {
		if write {
			if _, err := r.require(version); err != nil {
				return nil, err
			}
		}
		commands = append(commands, []string{"commit", "-q", "-a", "-m", "release: require " + version})
	}
	for _, folder := range r.order() {
		tag := tagOf(folder, version)
		commands = append(commands, []string{"tag", "-a", "-m", pathOf(folder) + " " + version, tag})
	}
	return commands, nil
}

// mayTag returns an error if something prevents a release, before anything is
// built.
func (r *repository) mayTag(version string) error {
	var faults []error
	if r.git("status", "--porcelain") != "" {
		faults = append(faults, errors.New("there are uncommitted changes"))
	}
	for _, folder := range r.order() {
		if tag := tagOf(folder, version); r.git("tag", "-l", tag) != "" {
			faults = append(faults, fmt.Errorf("the tag %s exists", tag))
		}
	}
	if last := r.lastTag(); last != "" && semver.Compare(version, last) <= 0 {
		faults = append(faults, fmt.Errorf("%s is not later than %s", version, last))
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "CHANGELOG.md"))
	if err != nil {
		faults = append(faults, err)
	} else if !hasSection(string(text), version) {
		faults = append(faults, fmt.Errorf("CHANGELOG.md: want a section %q with changes", "## "+version))
	}
	return errors.Join(faults...)
}

// hasSection reports whether a change log has a section of a version that is
// not empty.
func hasSection(text, version string) bool {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			name, _, _ := strings.Cut(heading, " ")
			in = name == version
		} else if in && line != "" {
			return true
		}
	}
	return false
}

// mayBreak rejects a patch release that changes the API incompatibly, and from
// v1 on also a minor one.
func (r *repository) mayBreak(version string) error {
	last := r.lastTag()
	if last == "" {
		return nil
	}
	err := r.apidiff(last)
	if !errors.Is(err, errIncompatible) {
		return err
	}
	if semver.Major(version) != semver.Major(last) || semver.Major(last) == "v0" && semver.MajorMinor(version) != semver.MajorMinor(last) {
		return nil
	}
	return fmt.Errorf("%w since %s: %s promises that it has not", err, last, version)
}
