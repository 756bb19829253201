// SPDX-License-Identifier: Apache-2.0

// Package restore restores the directory of a spool from backups, with the
// tools that operators use, and checks that a destination has every line.
package restore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// tools copy the directory $1 to $2.
var tools = map[string]string{
	"cp":    `mkdir -p "$2" && cp -aT "$1" "$2"`,
	"tar":   `mkdir -p "$2" && tar -C "$1" -cf - . | tar -C "$2" -xf -`,
	"rsync": `rsync -a "$1/" "$2/"`,
}

// each is the number of lines of a process.
const each = 100

// A Server makes destinations of an empty server, and reports how often the
// server has each message.
type Server func(t *testing.T) (dial func() delivery.Destination, messages func() map[string]int)

// Run logs, makes a backup, logs more, restores the backup and logs again, on
// each file system, with each tool, in place of the directory and over it. Each
// line must be there once.
func Run(t *testing.T, open Server) {
	for system, base := range systems(t) {
		for tool, script := range tools {
			if _, err := exec.LookPath(tool); err != nil {
				continue
			}
			for _, over := range []bool{false, true} {
				t.Run(fmt.Sprint(system, " ", tool, " over=", over), func(t *testing.T) {
					dial, messages := open(t)
					home, err := os.MkdirTemp(base, "restore")
					must(t, err)
					defer os.RemoveAll(home)
					n := restore(t, home, script, over, dial)
					got := messages()
					for i := range n {
						if x := got[nameOf(i)]; x != 1 {
							t.Fatalf("%s is there %d times, want once", nameOf(i), x)
						}
					}
				})
			}
		}
	}
}

// restore returns the number of lines.
func restore(t *testing.T, home, script string, over bool, dial func() delivery.Destination) int {
	dir, backup, n := filepath.Join(home, "spool"), filepath.Join(home, "backup"), 0
	copyDir := func(from, to string) {
		out, err := exec.Command("sh", "-ec", script, "sh", from, to).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	process := func() {
		d := dial()
		if c, ok := d.(interface{ Close() error }); ok {
			defer c.Close()
		}
		s, err := spool.Open(dir, d, spool.Config{Drain: time.Minute})
		must(t, err)
		log := nib.NewSink(s)
		for range each {
			log.Info().Msg(nameOf(n))
			n++
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		must(t, s.Flush(ctx), s.Close())
		if st := s.Stats(); st.Lost() > 0 {
			t.Errorf("lines are lost: %+v", st.Dropped)
		}
	}
	process()
	copyDir(dir, backup)
	process()
	for range 2 {
		if !over {
			must(t, os.RemoveAll(dir))
		}
		copyDir(backup, dir)
		process()
	}
	return n
}

// nameOf returns the message of a line.
func nameOf(n int) string { return fmt.Sprint("line-", n) }

// systems returns directories on file systems: in memory, and on ext4, which
// gives a restored file the inode of the removed one.
func systems(t *testing.T) map[string]string {
	all := map[string]string{"temporary": t.TempDir()}
	if _, err := os.Stat("/dev/shm"); err == nil {
		all["memory"] = "/dev/shm"
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	for _, command := range []string{"truncate -s 256M " + image, "mkfs.ext4 -q " + image,
		"mount -o loop " + image + " " + dir} {
		args := strings.Fields(command)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Logf("without ext4: %s: %v: %s", command, err, out)
			return all
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	all["ext4"] = dir
	return all
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
