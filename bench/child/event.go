// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/bench/report"
)

// ErrNoRelease indicates that the go command cannot get a release of Go.
var ErrNoRelease = errors.New("release not available")

// Event builds bench/event with a release of Go, such as "go1.24.13", runs it
// and returns its results. It needs the go command, and a working directory
// within this module.
func Event(release string, rounds int, round time.Duration, allocs int) (*report.Results, error) {
	env := append(os.Environ(), "GOTOOLCHAIN="+release)
	if out, err := output(env, "", "go", "version"); err != nil || !strings.Contains(out, release+" ") {
		return nil, fmt.Errorf("%s: %w: %s", release, ErrNoRelease, out)
	}
	mod, err := output(os.Environ(), "", "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "event")
	if out, err := output(env, filepath.Dir(strings.TrimSpace(mod)), "go", "build", "-modfile=event/release.mod",
		"-o", binary, "./event"); err != nil {
		return nil, fmt.Errorf("build event with %s: %w\n%s", release, err, out)
	}
	out, err := output(os.Environ(), "", binary, "-rounds="+strconv.Itoa(rounds), "-round="+round.String(),
		"-allocs="+strconv.Itoa(allocs))
	if err != nil {
		return nil, fmt.Errorf("event with %s: %w\n%s", release, err, out)
	}
	return report.Read(strings.NewReader(out))
}

// output runs a command and returns its standard output or, if it fails, an
// error with its standard error.
func output(env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}
