// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file"
)

// processes is the number of processes that write to one path.
const processes = 2

// A Rotator writes to a file and rotates it.
type Rotator interface {
	Write(line []byte) error
	Rotate() error
	Close() error
}

// Rotators are the contestants that rotate one file from several processes at
// once.
var Rotators = []struct {
	Name string
	Open func(path string) (Rotator, error)
}{
	{Nib, func(path string) (Rotator, error) {
		s, err := file.Open(path, file.Config{})
		return sinkRotator{s}, err
	}},
	{Lumberjack, func(path string) (Rotator, error) {
		return jackRotator{&lumberjack.Logger{Filename: path}}, nil
	}},
}

type sinkRotator struct{ *file.Sink }

func (s sinkRotator) Write(line []byte) error {
	return s.WriteRecord(&nib.Record{Level: nib.LevelInfo, Line: line})
}

type jackRotator struct{ *lumberjack.Logger }

func (l jackRotator) Write(line []byte) error {
	_, err := l.Logger.Write(line)
	return err
}

// An Outcome counts the lines of all processes by their fate.
type Outcome struct {
	Lines   int // lines that were to be written
	Refused int // lines whose call returned an error
	Lost    int // lines in no file although the call returned nil
	Twice   int // lines that occur more than once
	Broken  int // lines in the files that no process has written
	Failed  int // calls to rotate that returned an error
	Files   int // made by rotation
	Took    time.Duration
}

// Add adds the counts of p to o.
func (o *Outcome) Add(p Outcome) {
	o.Lines += p.Lines
	o.Refused += p.Refused
	o.Lost += p.Lost
	o.Twice += p.Twice
	o.Broken += p.Broken
	o.Failed += p.Failed
	o.Files += p.Files
	o.Took += p.Took
}

// RotateByTwo lets two processes each write a number of lines to one path, and
// rotate after each line. The program must call Dispatch.
func RotateByTwo(name string, lines int) (o Outcome, err error) {
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	var writers []*writer
	defer func() {
		for _, w := range writers {
			w.end()
		}
	}()
	for i := range processes {
		w, err := startWriter(name, filepath.Join(dir, "app.log"), i, lines)
		if err != nil {
			return o, err
		}
		writers = append(writers, w)
	}
	for _, w := range writers { // no writer ends before the other one begins
		if err := w.await(); err != nil {
			return o, err
		}
	}
	start := time.Now()
	for _, w := range writers {
		if _, err := io.WriteString(w.stdin, "go\n"); err != nil {
			return o, err
		}
	}
	for _, w := range writers {
		refused, failed, err := w.report()
		if err != nil {
			return o, err
		}
		o.Refused += refused
		o.Failed += failed
	}
	o.Took = time.Since(start)
	return o, o.count(dir, lines)
}

// count reads the lines back.
func (o *Outcome) count(dir string, lines int) error {
	text, err := contents(dir)
	if err != nil {
		return err
	}
	found := map[string]int{}
	for line := range bytes.Lines(text) {
		found[string(line)]++
	}
	for i := range processes {
		for n := range lines {
			line := string(numbered(i, n))
			o.Lines++
			switch found[line] {
			case 0:
				o.Lost++
			case 1:
			default:
				o.Twice++
			}
			delete(found, line)
		}
	}
	o.Lost -= o.Refused
	o.Broken = len(found)
	entries, err := os.ReadDir(dir)
	o.Files = len(entries) - 1 // all but the live file
	return err
}

func numbered(writer, n int) []byte {
	return fmt.Appendf(nil, `{"level":"info","writer":%d,"line":%d,"message":"rotates"}`+"\n", writer, n)
}

// A writer is a process that writes and rotates.
type writer struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

const writerVerb = "files-writer"

// Dispatch acts as a writer and exits if the program was started as one. Call
// it first thing in main.
func Dispatch() {
	if len(os.Args) != 6 || os.Args[1] != writerVerb {
		return
	}
	if err := write(os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func startWriter(name, path string, number, lines int) (*writer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, writerVerb, name, path, strconv.Itoa(number), strconv.Itoa(lines))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &writer{cmd, stdin, bufio.NewReader(stdout)}, nil
}

// await waits until the process is ready.
func (w *writer) await() error {
	if _, err := w.stdout.ReadString('\n'); err != nil {
		return fmt.Errorf("files: a writer has ended: %w", err)
	}
	return nil
}

// report waits until the process is done, and returns the numbers of refused
// lines and rotations.
func (w *writer) report() (refused, failed int, err error) {
	if _, err := fmt.Fscanln(w.stdout, &refused, &failed); err != nil {
		return 0, 0, fmt.Errorf("files: a writer has ended: %w", err)
	}
	return refused, failed, nil
}

// end ends the process, by closing its standard input if it is not done.
func (w *writer) end() {
	_ = w.stdin.Close()
	_ = w.cmd.Wait() // the process has reported its errors
}

// write runs the process that writes and rotates.
func write(name, path, number, lines string) error {
	i, err1 := strconv.Atoi(number)
	n, err2 := strconv.Atoi(lines)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("writer %q of %q lines", number, lines)
	}
	for _, r := range Rotators {
		if r.Name != name {
			continue
		}
		f, err := r.Open(path)
		if err != nil {
			return err
		}
		return writeAll(f, i, n)
	}
	return fmt.Errorf("nobody is called %q", name)
}

func writeAll(f Rotator, number, lines int) error {
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var refused, failed int
	for n := range lines {
		if err := f.Write(numbered(number, n)); err != nil {
			refused++
		}
		if err := f.Rotate(); err != nil {
			failed++
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err := fmt.Println(refused, failed)
	return err
}
