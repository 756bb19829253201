// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// childPause makes the child measure pauses.
const childPause = "NIB_SPOOL_PAUSE"

// A pauses holds the measurements of a child.
type pauses struct {
	gcs              uint64
	late, most       float64       // of /sched/pauses/stopping/gc:seconds
	p50, p999, worst time.Duration // of a call
	faults           float64       // minor faults of a call
}

const stopping = "/sched/pauses/stopping/gc:seconds"

// ways are how a child of this test keeps lines.
var ways = [...]string{"in memory", "mapped", "written"}

// logUnderGC logs with two goroutines at the rate of a busy service while the
// garbage collector runs, and prints the pauses of both.
func logUnderGC() error {
	way := os.Getenv(childPause)
	dir, dest := os.Getenv(childDir), delivery.Destination(nil)
	if way == ways[0] {
		dir, dest = "", sinkhole{} // for comparison, without files
	}
	s, err := Open(dir, dest, Config{Written: way == ways[2], Size: 2 << 30, MinFree: 1,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	if err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // the first segment is prefaulted by now
	var stop atomic.Bool
	var wg sync.WaitGroup
	took := make([][]time.Duration, 2)
	faults := make([]int64, 2)
	for w := range took {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			took[w] = make([]time.Duration, 0, 1<<20)
			clear(took[w][:1<<20])
			r := record(nib.LevelInfo, w, 200)
			before := minorFaults()
			for !stop.Load() && len(took[w]) < 1<<20 {
				for range 20 { // 20,000 lines a second each
					begin := time.Now()
					if err := s.WriteRecord(r); err != nil {
						fmt.Fprintln(os.Stderr, err)
					}
					took[w] = append(took[w], time.Since(begin))
				}
				time.Sleep(time.Millisecond)
			}
			faults[w] = minorFaults() - before
		}()
	}
	end := time.Now().Add(2 * time.Second)
	for time.Now().Before(end) {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	stop.Store(true)
	wg.Wait()
	all := append(took[0], took[1]...)
	slices.Sort(all)
	sample := []metrics.Sample{{Name: stopping}}
	metrics.Read(sample)
	n, late, most := quantiles(sample[0].Value.Float64Histogram())
	fmt.Println(n, late, most, int64(all[len(all)/2]), int64(all[len(all)*999/1000]), int64(all[len(all)-1]),
		float64(faults[0]+faults[1])/float64(len(all)))
	_ = s.Close() // lines stay: there is no destination
	return nil
}

// quantiles returns the number of values in h, their 99th percentile, and their
// maximum.
func quantiles(h *metrics.Float64Histogram) (n uint64, late, most float64) {
	for _, c := range h.Counts {
		n += c
	}
	seen := uint64(0)
	for i, c := range h.Counts {
		if c > 0 {
			most = h.Buckets[i+1]
			if math.IsInf(most, 1) {
				most = h.Buckets[i]
			}
		}
		if seen < n*99/100 && seen+c >= n*99/100 {
			late = h.Buckets[i+1]
		}
		seen += c
	}
	return n, late, most
}

// pausesOf runs a child that measures in dir, in the given control groups.
func pausesOf(t *testing.T, dir, way string, groups ...string) pauses {
	t.Helper()
	script := `for g in "$@"; do echo $$ > "$g/cgroup.procs" || exit 9; done; exec "$0"`
	cmd := exec.Command("sh", append([]string{"-c", script, os.Args[0]}, groups...)...)
	cmd.Env = append(os.Environ(), childDir+"="+filepath.Join(dir, "spool"), childPause+"="+way)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the child ended by %v", err)
	}
	var p pauses
	if _, err := fmt.Sscan(string(out), &p.gcs, &p.late, &p.most, (*int64)(&p.p50), (*int64)(&p.p999), (*int64)(&p.worst), &p.faults); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return p
}

// group makes a control group of version 1 with settings, and skips the test if
// that fails.
func group(t *testing.T, controller string, settings ...string) string {
	t.Helper()
	dir := filepath.Join("/sys/fs/cgroup", controller, "nib-spool-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("cannot make a control group: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Rmdir(dir) })
	for i := 0; i < len(settings); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, settings[i]), []byte(settings[i+1]), 0); err != nil {
			t.Skipf("cannot set %s: %v", settings[i], err)
		}
	}
	return dir
}

// disk returns the device number of a directory in the format of blkio.
func disk(t *testing.T, dir string) string {
	var st syscall.Stat_t
	must(t, syscall.Stat(dir, &st))
	return fmt.Sprintf("%d:%d", st.Dev>>8&0xfff, st.Dev&0xff)
}

// TestE2EPauses measures how long the garbage collector waits for goroutines
// that log into a mapping, a file, or memory, on the disk of the machine, a
// throttled one, with little memory, and in /dev/shm. The table is in
// docs/decisions.
func TestE2EPauses(t *testing.T) {
	if os.Getenv("NIB_E2E") != "full" {
		t.Skip("takes six minutes: NIB_E2E=full")
	}
	here := t.TempDir()
	for _, c := range []struct {
		name   string
		dir    string
		groups func(t *testing.T) []string
	}{
		{"disk", here, nil},
		{"disk of 2 MB/s", here, func(t *testing.T) []string {
			rate := disk(t, here) + " 2097152"
			return []string{group(t, "blkio", "blkio.throttle.write_bps_device", rate, "blkio.throttle.read_bps_device", rate)}
		}},
		{"48 MiB of memory", here, func(t *testing.T) []string {
			return []string{group(t, "memory", "memory.limit_in_bytes", "50331648")}
		}},
		{"/dev/shm", "/dev/shm", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var groups []string
			if c.groups != nil {
				groups = c.groups(t)
			}
			var all [len(ways)][]pauses
			for range pauseRounds {
				for way := range all {
					dir, err := os.MkdirTemp(c.dir, "nib")
					must(t, err)
					all[way] = append(all[way], pausesOf(t, dir, ways[way], groups...))
					must(t, os.RemoveAll(dir))
				}
			}
			for way, rounds := range all {
				slices.SortFunc(rounds, func(a, b pauses) int { return int(1e9 * (a.most - b.most)) })
				p := rounds[pauseRounds/2]
				t.Logf("| %s | %s | %v | %v | %v, %v, %v | %v | %v | %v | %.4f |", c.name,
					ways[way],
					p.gcs, seconds(p.late), seconds(rounds[0].most), seconds(p.most), seconds(rounds[pauseRounds-1].most), p.p50, p.p999, p.worst, p.faults)
			}
		})
	}
}

// pauseRounds is the number of measurements of each case. The longest stop is
// reported for the best, the median and the worst round, all other values for
// the median.
const pauseRounds = 9

func seconds(s float64) time.Duration { return time.Duration(s * 1e9).Round(time.Microsecond) }

// minorFaults returns the number of minor page faults of this thread.
func minorFaults() int64 {
	const thread = 1 // RUSAGE_THREAD
	var use syscall.Rusage
	if err := syscall.Getrusage(thread, &use); err != nil {
		return -1
	}
	return int64(use.Minflt)
}
