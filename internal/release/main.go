// SPDX-License-Identifier: Apache-2.0

// Command release uses a version of the modules of this repository as users do:
//
//	release -C DIR -version v0.1.0 [COMMAND...]
//	release modules
//
// It packs HEAD, and fetches, builds and runs it outside of the checkout, with
// the programs, settings and commands of the documents. A command is run after
// that in the environment of the user, as .ci/release makes archives. The other
// form prints the directories of published modules.
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
)

func main() {
	root := flag.String("C", ".", "`directory` of the checkout, whose HEAD is used")
	version := flag.String("version", "v0.1.0", "`version` to check")
	flag.Parse()
	if flag.Arg(0) == "modules" {
		fmt.Println(strings.Join(published, "\n"))
		return
	}
	err := check(*root, *version, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// check packs HEAD as a version, uses it as users do, and runs a command.
func check(root, version string, command []string) error {
	work, err := os.MkdirTemp("", "nib-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r, err := clone(root, filepath.Join(work, "nib"), version)
	if err != nil {
		return err
	}
	proxy := filepath.Join(work, "proxy")
	if err := errors.Join(r.lint(), r.pack(proxy)); err != nil {
		return err
	}
	u, err := newUser(r, proxy, filepath.Join(work, "home"))
	if err != nil {
		return err
	}
	var faults []error
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"go get", u.libraries},
		{"go install and licenses", u.programs},
		{"programs of the documents", u.examples},
		{"settings and commands of the documents", u.commands},
	} {
		start, verdict := time.Now(), "ok"
		if err := step.run(); err != nil {
			verdict, faults = "FAILED", append(faults, err)
		}
		fmt.Printf("%-6s %s (%.1f s)\n", verdict, step.name, time.Since(start).Seconds())
	}
	if len(faults) > 0 || len(command) == 0 {
		return errors.Join(faults...)
	}
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = root, u.env, os.Stdout, os.Stderr
	return c.Run()
}
