// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/spool"
)

// The test binary starts itself again as a service that is killed. Its
// environment sets its task.
const (
	childDir     = "NIB_E2E_DIR"
	childBrokers = "NIB_E2E_BROKERS"
	childMode    = "NIB_E2E_MODE"
	childShared  = "NIB_E2E_SHARED" // not "": other services have the spool as well
	childRound   = "NIB_E2E_ROUND"  // "" delivers the rest
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) == "" {
		os.Exit(m.Run())
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var modes = map[string]kafka.Config{
	"default":       {},
	"transactional": {TransactionalID: "tx"},
	"round robin":   {RoundRobin: true},
	"keyed":         {Key: kafka.KeyField("customer")},
	"small batches": {MaxBatch: 10_000},
}

var customers = []string{"c-1", "c-42", "c-7", "c-99", "c-365", "c-1000", "c-31", "c-58", "c-77", "c-110", "c-500"}

// serve logs until it is killed, twenty thousand lines per second, and writes
// to standard output how many calls have returned. On SIGTERM it drains and
// ends.
func serve() error {
	d, err := kafka.New(strings.Split(os.Getenv(childBrokers), ","), "logs", modes[os.Getenv(childMode)])
	if err != nil {
		return err
	}
	s, err := spool.Open(os.Getenv(childDir), d, spool.Config{
		OnFull: patient, Shared: os.Getenv(childShared) != "", Drain: time.Minute,
	})
	if err != nil {
		return err
	}
	round := os.Getenv(childRound)
	if round == "" {
		if err := s.Flush(context.Background()); err != nil {
			return err
		}
		return s.Close()
	}
	log := nib.NewSink(s)
	out := bufio.NewWriter(os.Stdout)
	tick := time.NewTicker(5 * time.Millisecond)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	for n := 0; ; {
		select {
		case <-tick.C:
		case <-end:
			return s.Close()
		}
		for range 100 {
			log.Info().Str("round", round).Int("n", n).Str("customer", customers[n%len(customers)]).Int("amount", n%900).Msg("order accepted")
			n++
		}
		fmt.Fprintln(out, n)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// service starts a service.
func service(t *testing.T, addrs []string, dir, mode, round string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childBrokers+"="+strings.Join(addrs, ","), childMode+"="+mode, childRound+"="+round)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, out
}

// killService runs a service for a while after its first calls, kills it, and
// returns how many calls had returned.
func killService(t *testing.T, addrs []string, dir, mode, round string, after time.Duration) (returned int) {
	cmd, out := service(t, addrs, dir, mode, round)
	return returnedBy(cmd, out, sync.OnceFunc(func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }))
}

// returnedBy calls logs for each line that a service writes until it is killed,
// and returns how many of its calls had returned.
func returnedBy(cmd *exec.Cmd, out io.Reader, logs func()) (returned int) {
	for lines := bufio.NewScanner(out); lines.Scan(); logs() {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			returned = n
		}
	}
	_ = cmd.Wait() // it was killed
	return returned
}

// killBrokers kills one broker after the other, each few seconds, and starts it
// again, until the context ends.
func killBrokers(ctx context.Context, c *cluster.Cluster, n int) (kills int) {
	for i := 0; ; i++ {
		for _, step := range []func(){func() { c.Kill(i % n); kills++ }, func() { c.Run(i % n) }} {
			step()
			select {
			case <-time.After(4 * time.Second):
			case <-ctx.Done():
				c.Run(i % n)
				return kills
			}
		}
	}
}

// A service is killed repeatedly while it delivers to three brokers. One broker
// is killed every few seconds. Every line whose call had returned is there
// once, in order.
func TestKill(t *testing.T) {
	for _, mode := range seed.Some(t, 2, []string{"default", "transactional"}) {
		t.Run(mode, func(t *testing.T) {
			rounds := 6
			if full() {
				rounds = 40
			}
			if mode != "default" {
				rounds /= 2
			}
			brokers := cluster.Start(t, 3)
			brokers.Create("logs", 1)
			dir, calls := t.TempDir(), map[string]int{}
			ctx, cancel := context.WithCancel(t.Context())
			killed := make(chan int)
			go func() { killed <- killBrokers(ctx, brokers, 3) }()
			for round := range rounds {
				name := strconv.Itoa(round)
				calls[name] = killService(t, brokers.Addrs(), dir, mode, name, time.Second+rand.N(2*time.Second))
			}
			cancel()
			kills := <-killed
			last, out := service(t, brokers.Addrs(), dir, mode, "")
			_, _ = io.Copy(io.Discard, out)
			must(t, last.Wait())
			brokers.AwaitReplicas("logs", 1)
			v := check(t, brokers.Addrs(), calls, true)
			t.Logf("%d kills of the service, %d of a broker, %d records: %s", rounds, kills, v.records, v)
			if v != (verdict{records: v.records}) {
				t.Error("not each once and in order")
			}
		})
	}
}

// A service is killed before any of its lines was acknowledged: a replica is
// down, and until the others drop it, consumers cannot read the leader's
// records. The next service finds it nevertheless.
func TestKillBeforeAcknowledgement(t *testing.T) {
	brokers := cluster.Start(t, 3)
	brokers.Create("logs", 1)
	follower := (brokers.Leader("logs") + 1) % 3
	brokers.Kill(follower)
	dir, calls := t.TempDir(), map[string]int{}
	calls["0"] = killService(t, brokers.Addrs(), dir, "default", "0", 800*time.Millisecond)
	last, out := service(t, brokers.Addrs(), dir, "default", "")
	_, _ = io.Copy(io.Discard, out)
	must(t, last.Wait())
	brokers.Run(follower)
	brokers.AwaitReplicas("logs", 1)
	v := check(t, brokers.Addrs(), calls, true)
	t.Logf("%d records: %s", v.records, v)
	if v != (verdict{records: v.records}) || v.records == 0 {
		t.Error("not each once and in order")
	}
}

// A verdict counts the faults of a topic.
type verdict struct{ records, lost, twice, disorder int }

func (v verdict) String() string {
	return fmt.Sprintf("%d lost, %d twice, %d out of order", v.lost, v.twice, v.disorder)
}

// check compares a topic with how many calls have returned in each round. There
// may be more lines than that: calls that had not returned when the service was
// killed.
func check(t *testing.T, addrs []string, calls map[string]int, ordered bool) (v verdict) {
	t.Helper()
	there := map[string]map[int]bool{}
	before := map[string]uint64{} // by spool
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := topic.Read(ctx, addrs, "logs", func(m topic.Message) bool {
		v.records++
		seq, err := strconv.ParseUint(m.Headers["seq"], 10, 64)
		if err != nil {
			t.Fatalf("headers: %v", m.Headers)
		}
		var l struct {
			Round string
			N     int
		}
		decode(t, m.Value, &l)
		if there[l.Round] == nil {
			there[l.Round] = map[int]bool{}
		}
		spool := m.Headers["spool"]
		switch {
		case there[l.Round][l.N]:
			v.twice++
		case seq < before[spool] && ordered:
			v.disorder++
		}
		there[l.Round][l.N], before[spool] = true, max(before[spool], seq)
		return true
	})
	must(t, err)
	for round, n := range calls {
		for i := range n {
			if !there[round][i] {
				v.lost++
			}
		}
	}
	return v
}
