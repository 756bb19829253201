// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
)

// A board is memory that a test shares with a child. The test sees a store to
// it even if the child dies.
type board struct {
	name  string
	words []atomic.Uint64
}

// The words of a board. The first ones are of the child as a whole, then each
// goroutine that logs has some.
const (
	atLogging = iota // the child has begun to log
	atOpen           // how long spool.Open took, in nanoseconds
	atDown           // the destination is to refuse everything; written by the test
	atEnough         // the child is to stop logging, and to end; written by the test
	atAddress        // where the child's code is
	atPatch          // the child waits for the test until this is not 0
	boardHead = 16

	laneBegun    = 0 // calls that were begun: number of the last one, counted from 1
	laneAccepted = 1 // calls that returned and were not refused
	laneRefused  = 2 // calls that returned and were refused
	laneDurable  = 3 // of laneAccepted: those that the spool reports as safe from a loss of power
	laneWords    = 4
)

func (b *board) lane(writer, word int) *atomic.Uint64 {
	return &b.words[boardHead+laneWords*writer+word]
}

// sum adds up a word of all goroutines.
func (b *board) sum(word int) (n uint64) {
	for w := range b.writers() {
		n += b.lane(w, word).Load()
	}
	return n
}

func (b *board) writers() int { return (len(b.words) - boardHead) / laneWords }

// newBoard makes one for so many goroutines. It is unmapped with the process:
// some hundred kilobytes.
func newBoard(t testing.TB, writers int) *board {
	t.Helper()
	f, err := os.CreateTemp(shmDir(t), "board")
	must(t, err)
	name := f.Name()
	must(t, f.Truncate(int64(boardHead+laneWords*writers)*8), f.Close())
	t.Cleanup(func() { _ = os.Remove(name) })
	b, err := openBoard(name)
	must(t, err)
	return b
}

func openBoard(name string) (*board, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &board{name, wordsOf(b)}, nil
}

// shmDir returns a directory in memory where there is room for one, for files
// that a disk must not slow down.
func shmDir(t testing.TB) string {
	t.Helper()
	const shm, room = "/dev/shm", 1 << 30 // a container often has less
	var s syscall.Statfs_t
	if err := syscall.Statfs(shm, &s); err != nil || s.Bavail*uint64(s.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "nib-crash-"+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A place is where a spool and its log file are.
type place struct {
	base, spool, log string
	second           string // another log, of a second destination, or ""
}

// newPlace makes one below dir.
func newPlace(t testing.TB, dir string) place {
	t.Helper()
	base, err := os.MkdirTemp(dir, "place")
	must(t, err)
	p := place{base: base, spool: filepath.Join(base, "spool"), log: filepath.Join(base, "log", "app.log")}
	must(t, os.Mkdir(filepath.Dir(p.log), 0o700))
	return p
}
