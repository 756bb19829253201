// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestContestantsWriteEquivalentLines(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if err := Check(&s); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestScenariosAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		var names []string
		for _, c := range s.Contestants {
			if slices.Contains(names, c.Name) || strings.ContainsAny(c.Name, " /") {
				t.Errorf("%s: contestant %q twice, or not a name", s.Name, c.Name)
			}
			names = append(names, c.Name)
		}
		if seen[s.Name] || s.Title == "" || s.MaxSize == 0 || names[0] != Nib || !slices.Contains(names, s.Versus) {
			t.Errorf("%s: twice, without a title or a size, or no %s and %q", s.Name, Nib, s.Versus)
		}
		seen[s.Name] = true
	}
}

// A MiB must take 1,000 of these lines and not one more.
func TestLineOfTheRotations(t *testing.T) {
	if got := mebibyte / len(thousandth); got != 1000 || thousandth[len(thousandth)-1] != '\n' {
		t.Errorf("%d lines in a MiB, want 1,000", got)
	}
}

// Contestants that rotate must do so: of 2,500 lines 1,000 are in the first
// file.
func TestWritersRotate(t *testing.T) {
	s := scenario(t, "FileRotate")
	for _, c := range s.Contestants {
		run, p, err := s.Start(&c, keepAll)
		if err != nil {
			t.Fatal(err)
		}
		run.Do(2500)
		var full int
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && e.Type().IsRegular() && info.Size() >= int64(1000*len(thousandth)) {
				full++
			}
		}
		// Others name a file by the time in milliseconds: the second
		// rotation within one replaces the file of the first.
		isNib := strings.HasPrefix(c.Name, "nib")
		if full != 2 && (isNib || full != 1) {
			t.Errorf("%s: %d files of 1,000 lines and more, want 2", c.Name, full)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(p.Dir); !os.IsNotExist(err) {
			t.Errorf("%s: the directory is there after Close: %v", c.Name, err)
		}
	}
}

func scenario(t *testing.T, name string) Scenario {
	t.Helper()
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	t.Fatal("no scenario " + name)
	return Scenario{}
}

// The check itself must be able to fail.
func TestCheckRefuses(t *testing.T) {
	printing := func(text string) Contestant {
		return Contestant{Name: Nib, New: func(p Place) (Run, error) {
			return Run{
				Do:    func(int) { _ = os.WriteFile(filepath.Join(p.Dir, "app.log"), []byte(text), 0o600) },
				Close: func() error { return nil },
			}, nil
		}}
	}
	whole := strings.Repeat(string(usualLine), checked)
	for name, text := range map[string]string{
		"a line too few":     whole[len(usualLine):],
		"a line too many":    whole + string(usualLine),
		"a line cut off":     whole[:len(whole)-1],
		"another text":       strings.Replace(whole, "GET", "PUT", 1),
		"nothing":            "",
		"a byte in between ": "\n" + whole[:len(whole)-1],
	} {
		s := Scenario{Name: "x", MaxSize: 1, Line: usualLine, Contestants: []Contestant{printing(text)}}
		if err := Check(&s); err == nil {
			t.Errorf("writer, %s: passes", name)
		}
	}
	good := Scenario{Name: "x", MaxSize: 1, Line: usualLine, Contestants: []Contestant{printing(whole)}}
	if err := Check(&good); err != nil {
		t.Errorf("writer, what it should write: %v", err)
	}
	logger := Scenario{Name: "x", MaxSize: 1, Contestants: []Contestant{printing(`{"level":"info"}` + "\n")}}
	if err := Check(&logger); err == nil {
		t.Error("logger, a line without fields: passes")
	}
}
