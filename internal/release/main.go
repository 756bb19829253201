// SPDX-License-Identifier: Apache-2.0

// Command release checks, makes and compares releases of the modules of this
// repository. See make release-check, make release and make apidiff.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

const usage = `usage: release check -version v0.1.0
       release tag -version v0.1.0 [-yes] [-dist DIR]
       release apidiff [-base REVISION]`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	var (
		fs      = flag.NewFlagSet("release", flag.ContinueOnError)
		version = fs.String("version", "", "version to release, such as v0.1.0")
		base    = fs.String("base", "", "revision to compare with (default: the last tag)")
		yes     = fs.Bool("yes", false, "commit and tag, instead of printing the commands")
		dist    = fs.String("dist", "dist", "directory for archives, checksums and SBOMs")
		root    = fs.String("C", ".", "directory of the checkout")
	)
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	dir, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	r, err := open(dir)
	if err != nil {
		return err
	}
	if args[0] != "apidiff" && (!semver.IsValid(*version) || semver.Canonical(*version) != *version) {
		return fmt.Errorf("-version %q: want a version such as v0.1.0", *version)
	}
	switch args[0] {
	case "check":
		return r.check(*version)
	case "tag":
		return r.tag(*version, *dist, *yes)
	case "apidiff":
		return r.apidiff(*base)
	}
	return errors.New(usage)
}

// check packs HEAD as a version and uses it as users do.
func (r *repository) check(version string) error {
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
	return s.try(work)
}

// try packs a staged release into a proxy below work and uses it as users do.
func (s *staged) try(work string) error {
	if err := s.lint(); err != nil {
		return err
	}
	if err := s.pack(filepath.Join(work, "proxy")); err != nil {
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
	return errors.Join(append(faults, u.keep())...)
}

// indent indents the output of a command below the line that introduces it.
func indent(out []byte) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n\t")
}
