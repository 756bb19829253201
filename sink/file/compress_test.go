// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

const firstName = "app-20261121T103000.123456Z-0000.log"

func TestOldFilesAreCompressed(t *testing.T) {
	for _, level := range []int{0, 1, 9} {
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: 5000, Compress: Gzip(level)})
		for n := range 200 {
			mustWrite(t, s, record(nib.LevelInfo, n, 100))
		}
		cleaned(s)
		must(t, s.Rotate())
		cleaned(s)
		names := files(t, dir)
		if len(names) != 5 {
			t.Errorf("got files %q, want four old ones", names)
		}
		for _, name := range names[:len(names)-1] {
			if !strings.HasSuffix(name, ".log.gz") || size(t, dir, name) > 1000 {
				t.Errorf("got %s of %d bytes, want it compressed", name, size(t, dir, name))
			}
		}
		checkNumbers(t, all(t, dir), 200)
	}
}

// testCompressor returns a Compressor with a function.
func testCompressor(compress func(dst io.Writer, src io.Reader) error) Compressor {
	return Compressor{Extension: ".x", Compress: compress}
}

// TestFailedCompressionLosesNothing makes each step of a compression fail. The
// next rotation repeats it.
func TestFailedCompressionLosesNothing(t *testing.T) {
	boom := errors.New("boom")
	healthy := func(dst io.Writer, src io.Reader) error { _, err := io.Copy(dst, src); return err }
	for _, c := range []struct {
		name  string
		fault vfstest.Fault
		run   func(dst io.Writer, src io.Reader) error
		want  error
		temp  bool // a file is left over
	}{
		{"error", vfstest.Fault{}, func(io.Writer, io.Reader) error { return boom }, boom, false},
		{"error after some bytes", vfstest.Fault{}, func(w io.Writer, _ io.Reader) error { _, err := w.Write([]byte("x")); return errors.Join(err, boom) }, boom, false},
		{"panic", vfstest.Fault{}, func(io.Writer, io.Reader) error { panic(boom) }, nil, false},
		{"read", vfstest.Fault{Op: vfstest.OpRead, Path: "app-*", Err: syscall.EIO}, nil, syscall.EIO, false},
		{"write", vfstest.Fault{Op: vfstest.OpWrite, Path: "*.tmp", Err: syscall.ENOSPC}, nil, syscall.ENOSPC, false},
		{"open", vfstest.Fault{Op: vfstest.OpOpen, Path: "app-*", Err: syscall.EMFILE}, nil, syscall.EMFILE, false},
		{"create", vfstest.Fault{Op: vfstest.OpCreate, Path: "*.tmp", Err: syscall.EACCES}, nil, syscall.EACCES, false},
		{"sync", vfstest.Fault{Op: vfstest.OpSync, Path: "*.tmp", Err: syscall.EIO}, nil, syscall.EIO, false},
		{"rename", vfstest.Fault{Op: vfstest.OpRename, Path: "*.tmp", Err: syscall.EIO}, nil, syscall.EIO, true},
		{"rename and remove", vfstest.Fault{Op: vfstest.OpRemove, Path: "*.log", Err: syscall.EPERM}, nil, syscall.EPERM, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			var reported error
			run := c.run
			if run == nil {
				run = healthy
			}
			s := openMem(t, m, clock, Config{
				Compress: testCompressor(func(w io.Writer, r io.Reader) error { return run(w, r) }),
				OnError:  func(err error) { reported = err },
			})
			heal := func() {}
			if c.fault.Op != "" {
				heal = m.Fail(c.fault)
			}
			rotated(t, s, clock, 1)
			if reported == nil || c.want != nil && !errors.Is(reported, c.want) {
				t.Errorf("OnError got %v, want %v", reported, c.want)
			}
			names := memFiles(t, m)
			if !slices.Contains(names, firstName) {
				t.Errorf("got files %q, want the old one among them", names)
			}
			if left := slices.Contains(names, firstName+".x.tmp"); left != c.temp {
				t.Errorf("got files %q, want a temporary one: %v", names, c.temp)
			}
			heal()
			run = healthy
			mustWrite(t, s, record(nib.LevelInfo, 1, 0))
			must(t, s.Rotate())
			cleaned(s)
			want := firstName + ".x app-20261121T113000.123456Z-0000.log.x app.log"
			wantText(t, "afterwards", strings.Join(memFiles(t, m), " "), want)
			checkNumbers(t, memAll(t, m), 2)
		})
	}
}

// TestLeftoversOfACrash starts with the files that a crashed process may leave.
func TestLeftoversOfACrash(t *testing.T) {
	for _, c := range []struct{ name, left, want string }{
		{"half of the compressed file", firstName + " " + firstName + ".x.tmp", firstName + ".x app.log"},
		{"both files", firstName + " " + firstName + ".x", firstName + ".x app.log"},
		{"temporary file alone", firstName + ".x.tmp", "app.log"},
		{"temporary file of the other kind", firstName + ".gz.tmp", "app.log"},
		{"nothing compressed", firstName, firstName + ".x app.log"},
	} {
		m, clock := newMem(t)
		for _, name := range strings.Fields(c.left) {
			f, err := m.Open(filepath.Join(logDir, name), os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err)
			_, err = f.Write([]byte(`{"n":0}` + "\n"))
			must(t, err, f.Close())
		}
		s := openMem(t, m, clock, Config{Compress: testCompressor(func(w io.Writer, r io.Reader) error { _, err := io.Copy(w, r); return err })})
		cleaned(s)
		wantText(t, c.name, strings.Join(memFiles(t, m), " "), c.want)
		if strings.Contains(c.want, firstName) {
			checkNumbers(t, memAll(t, m), 1)
		}
	}
}

// TestCloseBreaksCompressionOff closes while a file is being compressed.
func TestCloseBreaksCompressionOff(t *testing.T) {
	m, clock := newMem(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := openMem(t, m, clock, Config{Compress: testCompressor(func(w io.Writer, r io.Reader) error {
		close(begun)
		<-goOn
		_, err := io.Copy(w, r)
		return err
	})})
	writeNumbers(t, s, 0, 1)
	must(t, s.Rotate())
	<-begun
	closing := make(chan error)
	go func() { closing <- s.Close() }()
	for !s.w.retention.quit.Load() {
		runtime.Gosched()
	}
	close(goOn)
	must(t, <-closing)
	wantText(t, "files", strings.Join(memFiles(t, m), " "), firstName+" app.log")
	if n := s.Stats().Errors; n != 0 {
		t.Errorf("got %d errors, want none: it was asked for", n)
	}
	again := openMem(t, m, clock, Config{Compress: Gzip(0)})
	cleaned(again)
	wantText(t, "after the next Open", strings.Join(memFiles(t, m), " "), firstName+".gz app.log")
	checkNumbers(t, memAll(t, m), 1)
}

// TestFileThatGrowsWhileItIsCompressed checks that a file to which another
// program writes is kept.
func TestFileThatGrowsWhileItIsCompressed(t *testing.T) {
	m, clock := newMem(t)
	foreign := func() {
		f, err := m.Open(filepath.Join(logDir, firstName), os.O_RDWR|os.O_APPEND, 0)
		must(t, err)
		_, err = f.Write([]byte(`{"n":1}` + "\n"))
		must(t, err, f.Close())
	}
	s := openMem(t, m, clock, Config{Compress: testCompressor(func(w io.Writer, r io.Reader) error {
		_, err := io.Copy(w, r)
		if foreign != nil {
			foreign()
			foreign = nil
		}
		return err
	})})
	cleaned(s) // the goroutine started by Open
	rotated(t, s, clock, 1)
	wantText(t, "files", strings.Join(memFiles(t, m), " "), firstName+" app.log")
	must(t, s.Reopen())
	cleaned(s)
	wantText(t, "files, the next time", strings.Join(memFiles(t, m), " "), firstName+".x app.log")
	checkNumbers(t, memAll(t, m), 2)
}

// TestNameThatChangesWhileItIsCompressed checks that a file that takes the name
// during a compression is not deleted.
func TestNameThatChangesWhileItIsCompressed(t *testing.T) {
	m, clock := newMem(t)
	swap := func() {
		f, err := m.Open(filepath.Join(logDir, "other"), os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.Write([]byte(`{"n":1}` + "\n"))
		must(t, err, f.Close(), m.Rename(filepath.Join(logDir, "other"), filepath.Join(logDir, firstName)))
	}
	s := openMem(t, m, clock, Config{Compress: testCompressor(func(w io.Writer, r io.Reader) error {
		_, err := io.Copy(w, r)
		swap()
		return err
	})})
	cleaned(s)
	rotated(t, s, clock, 1)
	wantText(t, "files", strings.Join(memFiles(t, m), " "), firstName+" "+firstName+".x app.log")
	wantText(t, "the other file", numbers(memText(t, m, filepath.Join(logDir, firstName))), "1")
}

// TestCompressionFollowsNoLinks plants a link where the compressed file is
// written.
func TestCompressionFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	clock := newTestClock()
	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("victim"), 0o600))
	must(t, os.Symlink(victim, filepath.Join(dir, firstName+".gz.tmp")))
	s := open(t, filepath.Join(dir, "app.log"), Config{Compress: Gzip(0), clock: clock.clock()})
	cleaned(s)
	mustWrite(t, s, record(nib.LevelInfo, 0, 0))
	must(t, os.Remove(filepath.Join(dir, firstName+".gz.tmp")))
	// The name of the compressed file is taken, so the next one is used.
	must(t, os.Symlink(victim, filepath.Join(dir, firstName+".gz")))
	must(t, s.Rotate())
	cleaned(s)
	must(t, s.Close())
	wantText(t, "victim", text(t, victim), "victim")
	wantText(t, "files", strings.Join(files(t, dir), " "), firstName+".gz "+strings.Replace(firstName, "0000.", "0001.", 1)+".gz app.log victim")
}

type panickingError struct{}

func (*panickingError) Error() string { panic("in Error") }

// TestCompressorMisbehaves has faulty compressors: the file stays unchanged,
// the error is reported, and the next file is compressed.
func TestCompressorMisbehaves(t *testing.T) {
	for name, misbehave := range map[string]func() error{
		"panics":                           func() error { panic("in Compress") },
		"panics with nil":                  func() error { panic(nil) },
		"panics with nil error":            func() error { panic((*panickingError)(nil)) },
		"returns an error":                 func() error { return errors.New("no") },
		"returns an error that panics":     func() error { return (*panickingError)(nil) },
		"wraps an error that panics":       func() error { return fmt.Errorf("%w", &panickingError{}) },
		"returns an error without parts":   func() error { return noParts{} },
		"returns an error whose Is panics": func() error { return panickingIs{} },
		"panics with a map that contains itself": func() error {
			m := map[string]any{}
			m["m"] = m
			panic(m)
		},
		"calls Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GODEBUG", "panicnil=1")
			m, clock := newMem(t)
			bad, calls, reported := true, 0, 0
			c := Config{OnError: func(error) { reported++ }, Compress: testCompressor(func(w io.Writer, r io.Reader) error {
				calls++
				if bad {
					return misbehave()
				}
				_, err := io.Copy(w, r)
				return err
			})}
			s := openMem(t, m, clock, c)
			rotated(t, s, clock, 1)
			cleaned(s)
			if name != "calls Goexit" && reported != 1 {
				t.Errorf("got %d errors, want 1", reported)
			}
			names := slices.DeleteFunc(memFiles(t, m), func(name string) bool { return strings.HasSuffix(name, tempExtension) })
			wantText(t, "files", strings.Join(names, " "), firstName+" app.log")
			mustWrite(t, s, record(nib.LevelInfo, 1, 0)) // an hour later
			cleaned(s)
			before := calls
			clock.advance(200 * time.Millisecond)
			mustWrite(t, s, record(nib.LevelInfo, 2, 0))
			cleaned(s)
			if calls > before {
				t.Errorf("got %d calls more, want none: after a failure there is a pause", calls-before)
			}
			if n := m.Opened(); n != 1 {
				t.Errorf("got %d open files, want the log only", n)
			}
			bad = false
			clock.advance(time.Hour)
			writeNumbers(t, s, 3, 4) // it is retried
			cleaned(s)
			wantText(t, "files, later", strings.Join(memFiles(t, m), " "), firstName+".x app.log")
			checkNumbers(t, memAll(t, m), 4)
		})
	}
}

// TestCompressorThatIgnoresErrors has a compressor that returns nil although it
// could not read or write everything: the file stays.
func TestCompressorThatIgnoresErrors(t *testing.T) {
	for name, fault := range map[string]vfstest.Fault{
		"read":  {Op: vfstest.OpRead, Path: "app-*", Err: syscall.EIO},
		"once":  {Op: vfstest.OpRead, Path: "app-*", Times: 1, Err: syscall.EIO},
		"write": {Op: vfstest.OpWrite, Path: "*.tmp", Err: syscall.EIO},
		"Close": {Op: vfstest.OpCreate, Path: "*.tmp"},
	} {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{
			Compress: testCompressor(func(w io.Writer, r io.Reader) error {
				_, _ = io.Copy(w, r)
				_, _ = io.Copy(w, r) // goes on after an error
				return nil
			}),
			OnError: func(err error) { reported = err },
		})
		cleaned(s)
		if name == "Close" {
			fault.Reached = func() { s.w.retention.quit.Store(true) }
		}
		m.Fail(fault)
		rotated(t, s, clock, 1)
		wantText(t, name+": files", strings.Join(memFiles(t, m), " "), firstName+" app.log")
		if !errors.Is(reported, fault.Err) {
			t.Errorf("%s: OnError got %v, want %v", name, reported, fault.Err)
		}
	}
}

// TestGzipReturnsErrors has a reader and a writer that fail, and a level that
// does not exist.
func TestGzipReturnsErrors(t *testing.T) {
	full := &whole{f: strangeFile{write: func([]byte) (int, error) { return 0, syscall.ENOSPC }}}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"read", Gzip(0).Compress(io.Discard, iotest.ErrReader(syscall.EIO))},
		{"write", Gzip(0).Compress(full, strings.NewReader("text"))},
		{"level", Gzip(10).Compress(io.Discard, strings.NewReader("text"))},
	} {
		if c.err == nil {
			t.Errorf("%s: got no error", c.name)
		}
	}
}

// TestWholeWriter has writes that are short, do nothing, and fail.
func TestWholeWriter(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		err  error
		want error
	}{
		{"short", 1, nil, nil},
		{"nothing", 0, nil, io.ErrShortWrite},
		{"error", 2, syscall.EIO, syscall.EIO},
	} {
		w := &whole{f: strangeFile{write: func([]byte) (int, error) { return c.n, c.err }}}
		n, err := w.Write([]byte("text"))
		if err != c.want || w.err != c.want || c.want == nil && n != 4 || c.want != nil && n != c.n {
			t.Errorf("%s: got %d, %v, and recorded %v, want %v", c.name, n, err, w.err, c.want)
		}
	}
}

// A panickingIs is an error that cannot be compared with others.
type panickingIs struct{}

func (panickingIs) Error() string { return "text" }
func (panickingIs) Is(error) bool { panic("in Is") }
func (panickingIs) As(any) bool   { panic("in As") }

type noParts struct{}

func (noParts) Error() string   { return "no parts" }
func (noParts) Unwrap() []error { return nil }
