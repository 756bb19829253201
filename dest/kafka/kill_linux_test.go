// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The test binary starts itself again as a service that is killed. The environment says
// what it does.
const (
	childDir     = "NIB_KAFKA_DIR"
	childBrokers = "NIB_KAFKA_BROKERS"
	childMode    = "NIB_KAFKA_MODE"
	childRound   = "NIB_KAFKA_ROUND"
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

var modes = map[string]Config{
	"per spool":      {Quiet: 50 * time.Millisecond},
	"round robin":    {Quiet: 50 * time.Millisecond, Partitioning: RoundRobin},
	"transactional":  {Quiet: 50 * time.Millisecond, TransactionalID: "tx"},
	"small batches":  {Quiet: 50 * time.Millisecond, MaxBatch: 2000},
	"no compression": {Quiet: 50 * time.Millisecond, Compression: NoCompression},
}

// serve logs until it is killed, and tells each line on standard output when its call has
// returned.
func serve() error {
	d, err := Dial(strings.Split(os.Getenv(childBrokers), ","), logs, modes[os.Getenv(childMode)])
	if err != nil {
		return err
	}
	s, err := spool.Open(os.Getenv(childDir), d, spool.Config{SegmentSize: 1 << 20, Size: 1 << 30})
	if err != nil {
		return err
	}
	round := os.Getenv(childRound)
	if round == "" { // the last one: deliver what is left
		if err := s.Flush(context.Background()); err != nil {
			return err
		}
		return s.Close()
	}
	log := nib.NewSink(s)
	out := bufio.NewWriter(os.Stdout)
	for n := 0; ; n++ {
		log.Info().Str("round", round).Int("n", n).Msg("hello")
		fmt.Fprintf(out, "%s %d\n", round, n)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// child starts a service.
func child(t *testing.T, c *kfake.Cluster, dir, mode, round string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childBrokers+"="+strings.Join(c.ListenAddrs(), ","),
		childMode+"="+mode, childRound+"="+round)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// A service is killed again and again while it delivers. Every line whose call has returned is in the
// topic in the end, each once and, where that is promised, in order.
func TestKill(t *testing.T) {
	for mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			rounds := 40
			if testing.Short() || mode != "per spool" {
				rounds = 8
			}
			kill(t, mode, rounds)
		})
	}
}

func kill(t *testing.T, mode string, rounds int) {
	c := start(t, 3)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.SleepControl(func() { <-time.After(rand.N(10 * time.Millisecond)) }) // so a request is under way at most times
		return nil, nil, false
	})
	dir := t.TempDir()
	told := map[string]bool{}
	for round := range rounds {
		cmd, out := child(t, c, dir, mode, strconv.Itoa(round+1))
		var kill sync.Once
		enough := 200 + rand.IntN(3000)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			told[lines.Text()] = true
			if n == enough {
				kill.Do(func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // it was killed
	}
	last, out := child(t, c, dir, mode, "")
	_, _ = io.Copy(io.Discard, out)
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	seen, before := map[uint64]bool{}, uint64(0)
	all := read(t, c, logs)
	seqs := numbers(t, all)
	twice, disorder := 0, 0
	for i, m := range all {
		if seen[seqs[i]] {
			twice++
		}
		if seqs[i] <= before && modes[mode].Partitioning == PerSpool {
			disorder++
		}
		seen[seqs[i]], before = true, seqs[i]
		delete(told, ident(string(m.Value)))
	}
	t.Logf("%d rounds, %d records: %d lost, %d twice, %d out of order", rounds, len(all), len(told), twice, disorder)
	if len(told) > 0 || twice > 0 || disorder > 0 {
		t.Errorf("lost %d, twice %d, out of order %d", len(told), twice, disorder)
	}
}

// ident is what a service tells of a line.
func ident(line string) string {
	_, line, _ = strings.Cut(line, `"round":"`)
	round, rest, _ := strings.Cut(line, `","n":`)
	n, _, _ := strings.Cut(rest, ",")
	return round + " " + n
}
