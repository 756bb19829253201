// SPDX-License-Identifier: Apache-2.0

// Command release uses a version of the modules of this repository as users do:
//
//	release -C DIR -version v0.1.0 [COMMAND...]
//	release licenses BINARY DIR
//	release modules
//
// It packs HEAD, and fetches, builds and runs it outside of the checkout, with
// the programs, settings and commands of the documents. A command is run behind
// that in the environment of the user; .ci/release makes archives so. The other
// forms write the licenses of all modules in a binary into a directory, and
// print the directories of the published modules.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

func main() {
	root := flag.String("C", ".", "`directory` of the checkout")
	version := flag.String("version", "v0.1.0", "`version` to check")
	flag.Parse()
	var err error
	args := flag.Args()
	if len(args) == 1 && args[0] == "modules" {
		fmt.Println(strings.Join(published, "\n"))
	} else if len(args) == 3 && args[0] == "licenses" {
		err = writeLicenses(args[1], args[2])
	} else if !semver.IsValid(*version) || semver.Canonical(*version) != *version {
		err = fmt.Errorf("-version %q: want a version such as v0.1.0", *version)
	} else {
		err = check(*root, *version, args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// check packs HEAD as a version, uses it as users do, and runs a command.
func check(root, version string, command []string) (err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return err
	}
	r, err := open(root)
	if err != nil {
		return err
	}
	if r.git("status", "--porcelain") != "" {
		fmt.Println("note: changes that are not committed are not checked")
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
	if err := errors.Join(s.lint(), s.pack(filepath.Join(work, "proxy"))); err != nil {
		return err
	}
	u, err := newUser(s, work)
	if err != nil {
		return err
	}
	var faults []error
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"go get", u.libraries},
		{"go install", u.programs},
		{"licenses", u.licenses},
		{"programs of the documents", u.examples},
		{"settings of the documents", u.settings},
		{"commands of the documents", u.commands},
	} {
		start := time.Now()
		err := step.run()
		verdict := "ok"
		if err != nil {
			verdict = "FAILED"
			faults = append(faults, err)
		}
		fmt.Printf("%-6s %s (%.1f s)\n", verdict, step.name, time.Since(start).Seconds())
	}
	if len(faults) == 0 && len(command) > 0 {
		c := exec.Command(command[0], command[1:]...)
		c.Dir, c.Env, c.Stdout, c.Stderr = root, u.online, os.Stdout, os.Stderr
		return c.Run()
	}
	return errors.Join(faults...)
}

// indent indents the output of a command below the line that introduces it.
func indent(out []byte) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n\t")
}
