// SPDX-License-Identifier: Apache-2.0

// Package toolchain finds Go releases and runs their go command.
package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Toolchain is one Go release, for the target of this machine.
type Toolchain struct {
	Version string // "go1.26.8"
	GOROOT  string
	command string
	extra   []string // environment of builds that measure
	flags   string   // GOFLAGS from the environment or go env -w
}

// ErrRelease means that a release is not available.
var ErrRelease = errors.New("no such Go release")

// Find returns the toolchain of a release: "" is the current one in dir, "1.24"
// the newest of that minor version, "1.24.13" exactly that one. The go command
// downloads a missing release.
func Find(ctx context.Context, dir, release string) (*Toolchain, error) {
	env := os.Environ()
	if release != "" {
		exact, err := resolve(ctx, dir, release)
		if err != nil {
			return nil, err
		}
		env = append(env, "GOTOOLCHAIN="+exact)
	}
	out, err := run(ctx, dir, env, "go", "env", "GOVERSION", "GOROOT", "GOARCH", "GOOS",
		"GOHOSTARCH", "GOHOSTOS", "GOFLAGS")
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %s", ErrRelease, release, Said(err))
	}
	f := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(f) != 7 {
		return nil, fmt.Errorf("%w: go env answered %q", ErrRelease, out)
	}
	if minor(f[0]) < oldest {
		return nil, fmt.Errorf("%w: %s is older than Go 1.%d", ErrRelease, f[0], oldest)
	}
	if f[2] != f[4] || f[3] != f[5] {
		return nil, fmt.Errorf(
			"%w for %s/%s here: unset GOOS and GOARCH, as benchmarks run on this machine",
			ErrRelease, f[3], f[2])
	}
	return &Toolchain{Version: f[0], GOROOT: f[1], flags: f[6], command: "go"}, nil
}

// resolve returns an exact release for a minor version. It prefers an installed
// release to a newer one that is not installed.
func resolve(ctx context.Context, dir, release string) (string, error) {
	release = strings.TrimPrefix(release, "go")
	if strings.Count(release, ".") != 1 || strings.ContainsAny(release, "rb") {
		return "go" + release, nil
	}
	if out, err := run(ctx, dir, os.Environ(), "go", "env", "GOVERSION", "GOMODCACHE"); err == nil {
		f := strings.Fields(string(out))
		if len(f) == 2 {
			if strings.HasPrefix(f[0], "go"+release+".") {
				return f[0], nil
			}
			if v := installed(f[1], release); v != "" {
				return v, nil
			}
		}
	}
	// In a module with a directory vendor, the default cannot ask.
	out, err := run(ctx, dir, os.Environ(), "go", "list", "-mod=readonly", "-m", "-f",
		"{{.Version}}", "go@"+release)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %s", ErrRelease, release, Said(err))
	}
	return "go" + strings.TrimSpace(string(out)), nil
}

// installed returns the highest release of the minor version in the module
// cache.
func installed(cache, line string) string {
	dirs, _ := filepath.Glob(filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go"+line+".*"))
	best, name := -1, ""
	for _, d := range dirs {
		v, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(d), "toolchain@v0.0.1-"), "-")
		var n int
		if _, err := fmt.Sscanf(v, "go"+line+".%d", &n); err == nil && n > best &&
			fmt.Sprintf("go%s.%d", line, n) == v {
			best, name = n, v
		}
	}
	return name
}

// String returns the name of the toolchain in reports, such as "go1.26.8".
func (t *Toolchain) String() string { return t.Version }

// Env is the environment of commands of this toolchain. Flags from outside that
// change the compiler's work (GOFLAGS with -race, -N, -cover) would change the
// findings, so GOFLAGS keeps only -mod, -modfile and -tags. Profiles guide no
// build: the benchmarks of a library run without one.
func (t *Toolchain) Env() []string {
	env := append(os.Environ(), "GOTOOLCHAIN="+t.Version, "GOFLAGS="+keptFlags(t.flags))
	return append(env, t.extra...)
}

var keptFlag = regexp.MustCompile(`^['"]?--?(mod|tags)`)

func keptFlags(flags string) string {
	kept := []string{"-buildvcs=false", "-pgo=off"}
	for _, f := range split(flags) {
		if keptFlag.MatchString(f) {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

// split returns the flags in GOFLAGS, with their quotes: one that begins with a
// quote ends at the next such quote.
func split(flags string) (out []string) {
	for flags = strings.TrimSpace(flags); flags != ""; flags = strings.TrimSpace(flags) {
		end := strings.IndexAny(flags, " \t\r\n")
		if quote := flags[0]; quote == '\'' || quote == '"' {
			end = strings.IndexByte(flags[1:], quote) + len(`''`)
		}
		if end < len(`''`) {
			end = len(flags)
		}
		out, flags = append(out, flags[:end]), flags[end:]
	}
	return out
}

// NoDebug makes the linker leave out what debuggers need, which takes a third
// of its time. The symbols and the table of lines stay.
const NoDebug = "-ldflags=-w"

// KeepIn makes go commands have their temporary files in dir: those that are
// killed leave them behind.
func (t *Toolchain) KeepIn(dir string) { t.extra = append(t.extra, "GOTMPDIR="+dir) }

// Go runs the go command in dir and returns its standard output.
func (t *Toolchain) Go(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return run(ctx, dir, t.Env(), t.command, args...)
}

// commandError is a command that failed.
type commandError struct {
	line, text string // the command line, and its output
	err        error
}

func (e *commandError) Error() string { return e.line + ": " + e.err.Error() + "\n" + e.text }
func (e *commandError) Unwrap() error { return e.err }

// Said returns the output of a failed command, without the command line and
// without the stacks of a compiler or linker that panics.
func Said(err error) string {
	if e := new(commandError); errors.As(err, &e) && e.text != "" {
		text, _, _ := strings.Cut(e.text, "\ngoroutine ")
		return strings.TrimSpace(text)
	}
	return fmt.Sprint(err)
}

// run runs a command and returns its standard output. The error contains its
// standard error.
func run(
	ctx context.Context, dir string, env []string, name string, args ...string,
) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	// A go command that is interrupted ends those that it has started.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(errs.String())
		if len(text) > 4000 {
			text = text[:4000] + " …"
		}
		line := name + " " + strings.Join(args, " ")
		if len(line) > 300 {
			line = line[:300] + " …"
		}
		return nil, &commandError{line, text, err}
	}
	return out.Bytes(), nil
}
