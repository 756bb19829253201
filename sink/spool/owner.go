// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// glances is how often a lock that another process holds is tried again, a
// millisecond later: a process that checks whether it is free holds it for
// microseconds, unless it is suspended.
const glances = 100

// take locks the directory, and writes into the lock file which process that
// is. A slot of a shared directory is tried once: there are others.
func (d *dir) take(c *Config) (err error) {
	tries := glances
	if c.Shared {
		tries = 1
	}
	for range tries {
		if d.lock, err = lockFile(d.fs, d.name("lock")); err == nil {
			if err = d.held(); err == nil {
				d.sign()
				return nil
			}
			_ = d.lock.Close() // nothing was written to it
		}
		if !errors.Is(err, vfs.ErrLocked) && !errors.Is(err, errReplaced) { // by a process that has deleted an empty slot
			return err
		}
		if tries > 1 {
			time.Sleep(time.Millisecond)
		}
	}
	if errors.Is(err, errReplaced) {
		return err
	}
	return d.inUse()
}

// sign writes into the lock file which process has it. That is for people: who
// has the lock is known without it.
func (d *dir) sign() {
	f, ok := d.lock.(vfs.File)
	if !ok {
		return
	}
	name := ""
	if path, err := os.Executable(); err == nil {
		name = filepath.Base(path)
	}
	text := fmt.Appendf(nil, "%d %q\n", os.Getpid(), name)
	if info, err := f.Stat(); err != nil || info.Size > int64(len(text)) && f.Truncate(0) != nil {
		return
	}
	_, _ = f.WriteAt(text, 0)
}

// inUse is ErrInUse with the process that has the spool, if it can be read.
func (d *dir) inUse() error {
	const advice = "give each process a directory of its own, or set Config.Shared"
	f, err := d.fs.Open(d.name("lock"), os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrInUse, advice)
	}
	defer f.Close()
	b := make([]byte, 1024)
	n, _ := f.ReadAt(b, 0) // what there is of it
	pid, name, ok := parseOwner(string(b[:n]))
	switch {
	case !ok:
		return fmt.Errorf("%w: %s", ErrInUse, advice)
	case pid == os.Getpid():
		return fmt.Errorf("%w: this process has opened it before: %s", ErrInUse, advice)
	case name == "":
		return fmt.Errorf("%w: process %d has it: %s", ErrInUse, pid, advice)
	}
	return fmt.Errorf("%w: process %d (%q) has it: %s", ErrInUse, pid, name, advice)
}

// parseOwner reads what sign has written. The file may have anything in it.
func parseOwner(text string) (pid int, name string, ok bool) {
	line, _, whole := strings.Cut(text, "\n")
	digits, quoted, both := strings.Cut(line, " ")
	pid, err := strconv.Atoi(digits)
	if !whole || !both || err != nil || pid <= 0 {
		return 0, "", false
	}
	name, err = strconv.Unquote(quoted)
	return pid, name, err == nil
}
