// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/bench"
)

// checked is the number of lines that the contestants of writing write before
// they are timed: enough for two rotations where files are small.
const checked = 2500

// keepAll is more old files than any check makes. 0 would not have the same
// meaning for all contestants.
const keepAll = 1000

// Check lets every contestant write, and compares the files with the expected
// content: a line of the ten fields for loggers, all lines byte by byte for
// writers.
func Check(s *Scenario) error {
	var errs []error
	for i := range s.Contestants {
		c, check := &s.Contestants[i], checkLogger
		if s.Line != nil {
			check = checkWriter
		}
		if err := check(s, c); err != nil {
			errs = append(errs, fmt.Errorf("%s, %s: %w", s.Name, c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// checkLogger compares one line with that of the same scenario without a file.
func checkLogger(s *Scenario, c *Contestant) error {
	library, _, _ := strings.Cut(c.Name, "+")
	library, _, _ = strings.Cut(library, "-")
	var fault error
	line := bench.Scenario{Name: "TenFields", Want: wanted(), Setup: func(*bench.Peer) bench.Setup {
		return func(w io.Writer) bench.Run {
			return bench.Run{Do: func(n int) {
				var text []byte
				if text, fault = output(s, c, n); fault == nil {
					_, fault = w.Write(text)
				}
			}}
		}
	}}
	return errors.Join(bench.Check(&line, []*bench.Peer{peer(library)}), fault)
}

// wanted returns the line that all loggers must write.
func wanted() string {
	for _, s := range bench.Scenarios {
		if s.Name == "TenFields" {
			return s.Want
		}
	}
	panic("files: no scenario TenFields")
}

// checkWriter repeats the check for other libraries: some name a file by the
// time in milliseconds, and the second rotation within a millisecond replaces
// the file of the first.
func checkWriter(s *Scenario, c *Contestant) error {
	want := bytes.Repeat(s.Line, checked)
	for try := 1; ; try++ {
		text, err := output(s, c, checked)
		if err != nil || bytes.Equal(text, want) {
			return err
		}
		if try == 10 || strings.HasPrefix(c.Name, Nib) {
			return fmt.Errorf("%d bytes in the files, want %d, or others", len(text), len(want))
		}
	}
}

// output returns the content of the files after c was given n lines.
func output(s *Scenario, c *Contestant, n int) (text []byte, err error) {
	run, p, err := s.Start(c, keepAll)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	if run.Prepare != nil {
		run.Prepare(n)
	}
	run.Do(n)
	if run.Check != nil {
		if err := run.Check(); err != nil {
			return nil, err
		}
	}
	return contents(p.Dir)
}

// LineSize returns the number of bytes that c writes per line.
func (s *Scenario) LineSize(c *Contestant) (int, error) {
	text, err := output(s, c, 1)
	return len(text), err
}

// contents returns all files below dir, one after another, without links.
func contents(dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}
