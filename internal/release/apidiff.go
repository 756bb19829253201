// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const apidiffTool = "golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e"

// errIncompatible is returned if the API has changed incompatibly.
var errIncompatible = errors.New("the API has changed incompatibly")

// lastTag returns the last release before HEAD, or "".
func (r *repository) lastTag() string {
	return r.git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
}

// apidiff prints the changes of the API since a revision, by default the last
// release, and fails if one is incompatible.
func (r *repository) apidiff(base string) error {
	if base == "" {
		if base = r.lastTag(); base == "" {
			fmt.Println("no release is tagged yet; compare with a revision: make apidiff BASE=main~20")
			return nil
		}
	}
	fmt.Printf("changes of the API since %s\n", base)
	work, err := os.MkdirTemp("", "nib-apidiff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	old, err := r.at(base, filepath.Join(work, "old"))
	if err != nil {
		return err
	}
	install := exec.Command("go", "install", apidiffTool)
	install.Env = append(os.Environ(), "GOBIN="+work)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("install apidiff: %w\n%s", err, out)
	}
	tool := filepath.Join(work, "apidiff")
	incompatible := false
	for _, folder := range r.order() {
		if old.modules[folder] == nil {
			fmt.Printf("== %s: new\n", pathOf(folder))
			continue
		}
		before, after := filepath.Join(work, "before"), filepath.Join(work, "after")
		if err := export(tool, old, folder, before); err != nil {
			return err
		}
		if err := export(tool, r, folder, after); err != nil {
			return err
		}
		out, err := exec.Command(tool, "-m", before, after).Output() // apidiff lists the internal packages on stderr
		if err != nil {
			return fmt.Errorf("apidiff %s: %w", pathOf(folder), err)
		}
		if len(out) == 0 {
			out = []byte("no changes\n")
		}
		fmt.Printf("== %s\n%s", pathOf(folder), out)
		incompatible = incompatible || strings.Contains(string(out), "Incompatible changes:")
	}
	if incompatible {
		return errIncompatible
	}
	return nil
}

// at clones a revision.
func (r *repository) at(revision, dir string) (*repository, error) {
	if r.git("rev-parse", "--verify", "-q", revision+"^{commit}") == "" {
		return nil, fmt.Errorf("%s: no such revision", revision)
	}
	for _, args := range [][]string{{"clone", "-q", "--shared", "--no-checkout", r.dir, dir}, {"-C", dir, "checkout", "-q", "--detach", r.git("rev-parse", revision)}} {
		if out, err := r.command("git", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return open(dir)
}

// export writes the API of a module to a file.
func export(tool string, r *repository, folder, to string) error {
	c := exec.Command(tool, "-m", "-w", to, pathOf(folder))
	c.Dir = filepath.Join(r.dir, folder)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("apidiff %s: %w\n%s", pathOf(folder), err, out)
	}
	return nil
}
