// SPDX-License-Identifier: Apache-2.0

package loggertest

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// go vet checks the formats of Event.Msgf.
func TestVetChecksFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	text, err := os.ReadFile("testdata/formats/formats.go")
	must.Succeed(t, err)
	var want, got []string
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// wrong") {
			want = append(want, strconv.Itoa(i+1))
		}
	}
	// The command fails because of what it finds.
	out, _ := exec.Command("go", "vet", "./testdata/formats").CombinedOutput()
	place := regexp.MustCompile(`(?m)formats\.go:(\d+):`)
	for _, m := range place.FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got lines %v, want %v\n%s", got, want, out)
	}
}
