// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// childBoot makes the child log until the power is cut. Its value is the boot
// label that the child uses. The child prints the watermark.
const childBoot = "NIB_SPOOL_BOOT"

// logUntilCut logs without a destination, and prints twice a millisecond which
// numbers are synced: the first one of the process, and the first unsynced one.
func logUntilCut() error {
	boot, err := strconv.ParseUint(os.Getenv(childBoot), 10, 64)
	if err != nil {
		return err
	}
	s, err := Open(os.Getenv(childDir), nil, Config{SegmentSize: segment.MinSize, Size: 8 << 20,
		Written: boot%2 == 1, boot: boot,
		SyncDelay: time.Duration(1+boot%10) * time.Millisecond})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		_ = s.WriteRecord(record(nib.LevelInfo, n, 30+n%500)) // a dropped line has no number
		if n%20 == 0 {
			time.Sleep(500 * time.Microsecond)
			out := binary.LittleEndian.AppendUint64(nil, s.chain.opened)
			if _, err := os.Stdout.Write(binary.LittleEndian.AppendUint64(out, s.synced())); err != nil {
				return err
			}
		}
	}
}

// TestE2EPowerCut cuts the power of a real file system while lines are logged.
// When it is mounted again, the spool opens, and all lines below the watermark
// are there.
func TestE2EPowerCut(t *testing.T) {
	cuts := map[string]int{"short": 10, "full": 500}[os.Getenv("NIB_E2E")]
	if cuts == 0 || testing.Short() {
		cuts = 3
	}
	base, rng := t.TempDir(), rand.New(rand.NewPCG(seed.Of(t), 0))
	image, dir := filepath.Join(base, "image"), filepath.Join(base, "mounted")
	must(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // if the test fails
	err := errors.Join(vfstest.MakeExt4(image, 32<<20), vfstest.MountExt4(image, dir, ""))
	if err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	must(t, vfstest.Unmount(dir))
	var promised, there uint64
	// On a busy machine a few cuts may all come before the first sync.
	for cut := 0; cut < cuts || promised == 0 && cut < cuts+30; cut++ {
		must(t, vfstest.MountExt4(image, dir, ""))
		first, synced := cutOnce(t, dir, cut+1, time.Duration(5+rng.IntN(40))*time.Millisecond)
		must(t, vfstest.Unmount(dir))
		must(t, vfstest.MountExt4(image, dir, ""))
		promised += synced - first
		there += checkSynced(t, filepath.Join(dir, "spool"), first, synced)
		must(t, vfstest.Unmount(dir))
		if t.Failed() {
			t.Fatalf("cut %d of %d", cut, cuts)
		}
	}
	t.Logf("%d cuts or more: %d lines were under the watermark, 0 of them lost; %d arrived", cuts, promised, there)
	if promised == 0 {
		t.Error("nothing was promised")
	}
}

// cutOnce lets a child log for a while, cuts the power and ends it.
func cutOnce(t *testing.T, dir string, boot int, after time.Duration) (first, synced uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+filepath.Join(dir, "spool"), childBoot+"="+strconv.Itoa(boot))
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	in := bufio.NewReader(out)
	var words [16]byte
	var cut <-chan time.Time
	powered := true
	for {
		if _, err := io.ReadFull(in, words[:]); err != nil {
			break
		}
		if cut == nil {
			cut = time.After(after)
		}
		if powered { // a sync in progress when the power goes may return without an error
			first, synced = binary.LittleEndian.Uint64(words[:8]), binary.LittleEndian.Uint64(words[8:])
		}
		select {
		case <-cut:
			if powered {
				must(t, vfstest.CutPower(dir))
				powered, cut = false, time.After(5*time.Millisecond)
			} else {
				must(t, cmd.Process.Kill())
			}
		default:
		}
	}
	_ = cmd.Wait() // it was killed
	if powered {
		t.Fatalf("the child ended by %v", cmd.ProcessState)
	}
	return first, synced
}

// checkSynced opens the spool and returns how many records it delivers. Those
// in [first, synced) are among them.
func checkSynced(t *testing.T, dir string, first, synced uint64) uint64 {
	t.Helper()
	f := &far{}
	s, err := Open(dir, f, Config{SegmentSize: segment.MinSize, Size: 8 << 20, boot: 1 << 40})
	if err != nil {
		t.Fatalf("Open refuses: %v", err)
	}
	must(t, s.Flush(context.Background()), s.Close())
	checkIdentity(t, s)
	has := map[uint64]bool{}
	for _, seq := range f.seqs {
		has[seq] = true
	}
	for seq := first; seq < synced; seq++ {
		if !has[seq] {
			t.Errorf("record %d of [%d, %d) is lost", seq, first, synced)
			break
		}
	}
	return uint64(len(f.seqs))
}
