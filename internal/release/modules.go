// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const rootPath = "github.com/nib-log/nib"

// published lists the directories of the modules that users fetch. All have the
// version of the root.
var published = []string{
	".", "dest/kafka", "dest/kafka/embedded", "allocs", "cmd/nib", "bridge/nibgrpc",
	"bridge/nibhclog", "bridge/niblogr", "bridge/niblogrus", "bridge/nibotel", "bridge/nibzap",
}

// installed lists the programs that users install.
var installed = []string{"cmd/nib", "allocs/cmd/allocs", "allocs/cmd/allocsvet"}

// isUnpublished finds the directories of modules for the development of nib.
var isUnpublished = regexp.MustCompile(
	`(^|/)(bench|demo|e2e|examples|internal|kfaketest|otlptest|testdata)(/|$)`)

// unreleased lists the modules without releases that a published one needs. No
// other module gets the requirements of a program.
var unreleased = map[string]string{
	"bridge/nibgrpc":      "google.golang.org/genproto/googleapis/rpc", // which gRPC requires
	"dest/kafka/embedded": "github.com/twmb/franz-go/pkg/kfake",
	"cmd/nib":             "any", "allocs": "any",
}

// script runs a script of bash.
func script(dir string, env []string, text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	c.Dir, c.Env, c.WaitDelay = dir, env, time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n\t%s", strings.TrimSpace(text), err,
			strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n\t"))
	}
	return string(out), err
}

// A repository is a clone of a checkout whose modules require a version.
type repository struct{ dir, version string }

// clone clones HEAD of a checkout into dir, and commits that all modules
// require version, as .ci/release does.
func clone(root, dir, version string) (*repository, error) {
	_, err := script(root, nil, fmt.Sprintf(`git clone -q --shared --no-tags . %q
cd %q
git ls-files go.mod '*/go.mod' | xargs sed -i -E 's#(%s[^ ]*) v[^ ]+#\1 %s#'
git -c user.name=r -c user.email=r@example.com commit -q -a --allow-empty -m release
`, dir, dir, rootPath, version))
	return &repository{dir, version}, err
}

// files returns the names of the files that match patterns of git.
func (r *repository) files(patterns string) ([]string, error) {
	out, err := script(r.dir, nil, "git ls-files "+patterns)
	return strings.Fields(out), err
}

// pathOf returns the path of the module or package in a directory.
func pathOf(folder string) string { return path.Join(rootPath, folder) }

// lint finds modules that are not known as published or unpublished, and
// directives that users should not get.
func (r *repository) lint() error {
	names, err := r.files("go.mod '*/go.mod'")
	faults := []error{err}
	for _, name := range names {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf(name+": "+format, args...))
		}
		folder := path.Dir(name)
		if !slices.Contains(published, folder) {
			if !isUnpublished.MatchString(folder) {
				fault("add the module to published in internal/release, or move it")
			}
			continue
		}
		text, _ := os.ReadFile(filepath.Join(r.dir, name)) // an empty one is no go.mod
		m, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		for _, q := range m.Require {
			may := unreleased[folder]
			if module.IsPseudoVersion(q.Mod.Version) && may != "any" && may != q.Mod.Path {
				fault("requires %s, which is not a release", q.Mod)
			}
		}
		for _, p := range m.Replace {
			if !strings.HasPrefix(p.Old.Path, rootPath) {
				fault("replaces %s, which has no effect for users", p.Old.Path)
			}
		}
	}
	return errors.Join(faults...)
}

// pack writes the published modules into a directory, in the layout of a module
// proxy.
func (r *repository) pack(proxy string) error {
	for _, folder := range published {
		at := filepath.Join(proxy, pathOf(folder), "@v", r.version)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		mod, err1 := os.ReadFile(filepath.Join(r.dir, folder, "go.mod"))
		w, err2 := os.Create(at + ".zip")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		m := module.Version{Path: pathOf(folder), Version: r.version}
		now := time.Now().UTC().Format(time.RFC3339)
		info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, r.version, now)
		err := errors.Join(
			zip.CreateFromVCS(w, m, r.dir, "HEAD", strings.TrimPrefix(folder, ".")), w.Close(),
			os.WriteFile(at+".mod", mod, 0o644), os.WriteFile(at+".info", []byte(info), 0o644),
			os.WriteFile(filepath.Join(filepath.Dir(at), "list"), []byte(r.version+"\n"), 0o644))
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}
