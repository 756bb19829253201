// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Hello is the cost of a program that logs one line with a library.
type Hello struct {
	Size int64   // size of the stripped binary in bytes
	Init float64 // initialisation of all its packages in microseconds, minimum of several starts
}

// BuildHello builds bench/hello/<name>, without
// symbols and paths, and starts it a number of times. It needs the go command,
// and a working directory within this module.
func BuildHello(name string, starts int) (Hello, error) {
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return Hello{}, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "hello")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary,
		"github.com/nib-log/nib/bench/hello/"+name)
	if out, err := build.CombinedOutput(); err != nil {
		return Hello{}, fmt.Errorf("build hello/%s: %w\n%s", name, err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		return Hello{}, err
	}
	h := Hello{Size: info.Size()}
	for i := range starts {
		us, err := initTime(binary)
		if err != nil {
			return Hello{}, err
		}
		if i == 0 || us < h.Init {
			h.Init = us
		}
	}
	return h, nil
}

// initTime starts binary with the runtime's trace of package initialisation and
// returns the sum of the times in it.
func initTime(binary string) (microseconds float64, err error) {
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	return sumInits(trace.String())
}

// sumInits adds up the clock column of lines like
//
//	init os @0.31 ms, 0.012 ms clock, 416 bytes, 8 allocs
func sumInits(trace string) (microseconds float64, err error) {
	var found bool
	for line := range strings.Lines(trace) {
		_, rest, ok := strings.Cut(line, " ms, ")
		if !ok || !strings.HasPrefix(line, "init ") {
			continue
		}
		text, _, _ := strings.Cut(rest, " ms clock")
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("init trace %q: %w", line, err)
		}
		microseconds += 1000 * ms
		found = true
	}
	if !found {
		return 0, fmt.Errorf("no init trace in %q", trace)
	}
	return microseconds, nil
}
