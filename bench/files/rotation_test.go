// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The tests start this program again as the processes that write.
func TestMain(m *testing.M) {
	Dispatch()
	os.Exit(m.Run())
}

// Two processes write to one path and rotate it after each line.
func TestTwoProcessesRotateOneFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("one process should log to one path there")
	}
	lines := 200
	if os.Getenv("NIB_E2E") == "full" {
		lines = 2000
	}
	for _, r := range Rotators {
		o, err := RotateByTwo(r.Name, lines)
		if r.Name != Nib { // errors and losses of the others are only reported
			t.Logf("%s: %+v, %v", r.Name, o, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", r.Name, o)
		if o.Lines != processes*lines || o.Refused+o.Lost+o.Twice+o.Broken+o.Failed > 0 {
			t.Errorf("got %+v, want each of %d lines in one file", o, processes*lines)
		}
		if o.Files < lines {
			t.Errorf("%d files made by rotation, want nearly as many as there are lines, %d", o.Files, processes*lines)
		}
	}
}

// The count itself must be able to find errors.
func TestOutcomeReportsWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines ...[]byte) {
		t.Helper()
		var text []byte
		for _, l := range lines {
			text = append(text, l...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("app.log", numbered(0, 0), numbered(1, 0)[1:])
	write("app-1.log", numbered(0, 0), numbered(0, 1))
	var got Outcome
	if err := got.count(dir, 2); err != nil {
		t.Fatal(err)
	}
	if want := (Outcome{Lines: 4, Lost: 2, Twice: 1, Broken: 1, Files: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFailedProcessIsReported(t *testing.T) {
	if _, err := RotateByTwo("nobody", 1); err == nil {
		t.Error("a writer that does not start passes")
	}
}
