// SPDX-License-Identifier: Apache-2.0

//go:build unix

package otlp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/sink/spool"
)

// The test binary starts itself again as a service that is killed.
const (
	childDir   = "NIB_E2E_DIR"
	childURL   = "NIB_E2E_URL"
	childRound = "NIB_E2E_ROUND" // "" delivers what is left
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

// patient waits when the disk is busy, instead of dropping lines.
var patient = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}}

// serve logs until it is killed, twenty thousand lines per second, and writes
// to standard output how many calls have returned.
func serve() error {
	d, err := otlp.New(os.Getenv(childURL), otlp.Config{})
	if err != nil {
		return err
	}
	s, err := spool.Open(os.Getenv(childDir), d, spool.Config{OnFull: patient, Drain: time.Minute})
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
	for n := 0; ; {
		for range 100 {
			log.Info().Str("round", round).Int("n", n).Msg("order accepted")
			n++
		}
		fmt.Fprintln(out, n)
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func service(dir, url, round string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+url, childRound+"="+round)
	cmd.Stderr = os.Stderr
	return cmd
}

// killService runs a service for a while, kills it, and returns how many calls
// had returned.
func killService(t *testing.T, dir, url, round string, after time.Duration) (returned int) {
	cmd := service(dir, url, round)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			returned = n
		}
	}
	_ = cmd.Wait()
	return returned
}

// arrivals counts the records in the file of the Collector by round and number.
// Those that are there twice must have the same identity.
func arrivals(t *testing.T, name string) (count map[string]map[int]int, repeated int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type attribute struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	count = map[string]map[int]int{}
	uids := map[string]string{}
	for dec := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)); dec.More(); {
		var m struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct{ Attributes []attribute }
				}
			}
		}
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		for _, rl := range m.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				for _, r := range sl.LogRecords {
					values := map[string]string{}
					for _, a := range r.Attributes {
						values[a.Key] = a.Value.StringValue + a.Value.IntValue
					}
					n, err := strconv.Atoi(values["n"])
					if err != nil {
						t.Fatal(err)
					}
					round, uid := values["round"], values[otlp.UIDAttribute]
					if count[round] == nil {
						count[round] = map[int]int{}
					}
					if count[round][n]++; count[round][n] > 1 {
						repeated++
					}
					key := round + "/" + values["n"]
					if old, ok := uids[key]; uid == "" || ok && old != uid {
						t.Fatalf("%s has the identities %q and %q", key, old, uid)
					}
					uids[key] = uid
				}
			}
		}
	}
	return count, repeated
}

// The service is killed with SIGKILL, and the Collector is stopped and started
// again: each line whose call has returned is in its file, and what is there
// twice has one identity.
func TestKillWithCollector(t *testing.T) {
	rounds, stops, length := 3, 1, 400*time.Millisecond
	if os.Getenv("NIB_E2E") == "full" {
		rounds, stops, length = 40, 10, 1300*time.Millisecond
	}
	c, err := servers.NewCollector(t.TempDir())
	if errors.Is(err, servers.ErrNoCollector) {
		t.Skip(err)
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	dir, url := t.TempDir(), "http://"+c.Addr+"/v1/logs"
	returned := map[string]int{}
	for round := range rounds {
		restarted := make(chan error, 1)
		if round%(rounds/stops) == 0 {
			time.AfterFunc(length/3, func() { c.Stop(); restarted <- c.Start() })
		} else {
			restarted <- nil
		}
		name := strconv.Itoa(round)
		returned[name] = killService(t, dir, url, name, length/2+rand.N(length))
		if err := <-restarted; err != nil {
			t.Fatal(err)
		}
	}
	if err := service(dir, url, "").Run(); err != nil {
		t.Fatalf("what was left: %v", err)
	}
	c.Stop()
	count, repeated := arrivals(t, c.Logs)
	total, lost := 0, 0
	for round, n := range returned {
		total += n
		for i := range n {
			if count[round][i] == 0 {
				lost++
			}
		}
	}
	t.Logf("%d kills, %d stops of the Collector: %d lines, %d lost, %d there twice, all recognizable", rounds, stops, total, lost, repeated)
	if lost > 0 || total == 0 {
		t.Errorf("%d of %d lines are lost", lost, total)
	}
}
