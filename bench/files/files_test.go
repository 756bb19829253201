// SPDX-License-Identifier: Apache-2.0

package files

import (
	"io"
	"os"
	"strings"
	"testing"
)

// A MiB must take 1,000 of these lines and not one more.
func TestLineOfTheRotations(t *testing.T) {
	if got := mebibyte / len(thousandth); got != 1000 {
		t.Errorf("%d lines in a MiB, want 1,000", got)
	}
}

// Contestants that rotate must do so: of 2,500 lines 1,000 are in the first
// file.
func TestWritersRotate(t *testing.T) {
	rotate := Set().Tables[1].Scenarios[2]
	for _, c := range rotate.Contestants {
		run, dir := rotate.Start(&c, io.Discard)
		run.Do(2500)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		full := 0
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && e.Type().IsRegular() && info.Size() >= int64(1000*len(thousandth)) {
				full++
			}
		}
		// Others name a file by the time in milliseconds: the second rotation within
		// one replaces the file of the first.
		if full != 2 && (strings.HasPrefix(c.Name, "nib") || full != 1) {
			t.Errorf("%s: %d files of 1,000 lines and more, want 2", c.Name, full)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: the directory is there after Close: %v", c.Name, err)
		}
	}
}
