// SPDX-License-Identifier: Apache-2.0

package loggertest

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestStartMakesNoLogger checks that a program which imports nib and does not
// log pays for no logger: the first layout alone takes 4 KB.
func TestStartMakesNoLogger(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inits := regexp.MustCompile(`init github\.com/nib-log/nib @.* (\d+) bytes`).FindSubmatch(out)
	if inits == nil {
		t.Fatalf("got no line of nib:\n%s", out)
	}
	if size, err := strconv.Atoi(string(inits[1])); err != nil || size > 2000 {
		t.Errorf("got %s bytes and %v, want at most 2000", inits[1], err)
	}
}
