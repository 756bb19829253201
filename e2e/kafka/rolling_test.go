// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sink/spool"
)

// A service is restarted repeatedly, each time while the one before still logs
// to the same directory, which then drains and ends, or is killed.
func TestRollingRestartEmbedded(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(map[bool]string{false: "drained", true: "killed"}[killed], func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "logs"))
			must(t, err)
			defer c.Close()
			c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
				c.SleepControl(func() { <-time.After(rand.N(10 * time.Millisecond)) })
				return nil, nil, false
			})
			rolling(t, c.ListenAddrs(), killed, 10, func() time.Duration { return 50*time.Millisecond + rand.N(100*time.Millisecond) })
		})
	}
}

// The same with three brokers.
func TestRollingRestart(t *testing.T) {
	if !full() {
		t.Skip("set NIB_E2E=full; TestRollingRestartEmbedded has a cluster in this process")
	}
	for _, killed := range []bool{false, true} {
		t.Run(map[bool]string{false: "drained", true: "killed"}[killed], func(t *testing.T) {
			brokers := cluster.Start(t, 3)
			brokers.Create("logs", 3)
			rolling(t, brokers.Addrs(), killed, 10, func() time.Duration { return time.Second + rand.N(time.Second) })
		})
	}
}

// rolling restarts a service, and checks the topic.
func rolling(t *testing.T, addrs []string, killed bool, restarts int, pause func() time.Duration) {
	t.Setenv(childShared, "yes")
	dir, calls := filepath.Join(t.TempDir(), "spool"), map[string]int{}
	before := beginService(t, addrs, dir, 0)
	for round := 1; round <= restarts; round++ {
		now := beginService(t, addrs, dir, round)
		time.Sleep(pause())
		calls[before.round] = before.end(t, killed)
		before = now
	}
	calls[before.round] = before.end(t, killed)
	deliverSlots(t, addrs, dir)
	v := check(t, addrs, calls, true)
	sum := 0
	for _, n := range calls {
		sum += n
	}
	t.Logf("%d restarts, %d calls returned, %d records: %s", restarts, sum, v.records, v)
	if v != (verdict{records: v.records}) || v.records < sum || sum == 0 {
		t.Error("not each once and in order")
	}
}

// A rolled is a service that logs.
type rolled struct {
	round string
	cmd   *exec.Cmd
	calls chan int // how many calls had returned at the end
}

// beginService starts a service and waits until it logs.
func beginService(t *testing.T, addrs []string, dir string, round int) *rolled {
	t.Helper()
	r := &rolled{round: strconv.Itoa(round), calls: make(chan int, 1)}
	var out io.Reader
	r.cmd, out = service(t, addrs, dir, "default", r.round)
	logs := make(chan bool, 1)
	go func() {
		last, lines := 0, bufio.NewScanner(out)
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				if last == 0 {
					logs <- true
				}
				last = n
			}
		}
		close(logs)
		r.calls <- last
	}()
	if !<-logs {
		t.Fatalf("the start of service %d was refused: %v", round, r.cmd.Wait())
	}
	return r
}

// end ends the service, and returns how many calls had returned.
func (r *rolled) end(t *testing.T, killed bool) (returned int) {
	t.Helper()
	sig := syscall.SIGTERM
	if killed {
		sig = syscall.SIGKILL
	}
	must(t, r.cmd.Process.Signal(sig))
	returned = <-r.calls
	if err := r.cmd.Wait(); err != nil && !killed {
		t.Errorf("service %s: %v", r.round, err)
	}
	return returned
}

// deliverSlots delivers the lines that all services have left.
func deliverSlots(t *testing.T, addrs []string, dir string) {
	t.Helper()
	d, err := kafka.New(addrs, "logs", kafka.Config{})
	must(t, err)
	defer d.Close()
	s, err := spool.Open(dir, d, spool.Config{Shared: true})
	must(t, err)
	await.Until(t, "one slot is left and nothing pending", func() bool {
		slots, err := os.ReadDir(dir)
		must(t, err)
		return len(slots) == 1 && s.Stats().Pending == 0
	})
	must(t, s.Close())
}
