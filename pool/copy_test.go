// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"
)

func TestVetReportsCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("go vet builds the package anew")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command: ", err)
	}
	out, err := exec.Command(tool, "vet", "./testdata/copies").CombinedOutput()
	if err == nil {
		t.Errorf("go vet found nothing")
	}
	var got []string
	for _, line := range regexp.MustCompile(`copies\.go:(\d+):\d+: .*(copies lock|passes lock)`).FindAllStringSubmatch(string(out), -1) {
		got = append(got, line[1])
	}
	if want := []string{"14", "18", "21", "26", "31"}; !slices.Equal(got, want) {
		t.Errorf("got reports for lines %v, want %v\n%s", got, want, out)
	}
}
