// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kills

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/e2e/receivers"
)

// A Result counts the lines that were logged, and those that have arrived.
type Result struct {
	Lines    int // lines whose calls had returned
	Services int // services that were killed
	Servers  int // kills of the server
	Lost     []string
	Repeated int           // records that have arrived more than once
	Draining time.Duration // time until the remaining records were delivered
}

// plan is the amount of work.
type plan struct{ lines, services, servers int }

func planOf(mode string) plan {
	if mode == "full" {
		return plan{1_000_000, 40, 10}
	}
	return plan{24_000, 3, 1}
}

// Run logs lines to a receiver through a spool: one service after the other.
// Each service is killed, and the server is killed and started again. With
// NIB_E2E=full there are 1,000,000 lines, 40 kills of services, and 10 of the
// server. A record that arrives twice must have the same identity each time.
func Run(t *testing.T, r receivers.Receiver) Result {
	t.Helper()
	p := planOf(os.Getenv("NIB_E2E"))
	dir := t.TempDir()
	returned := map[string]int{}
	var res Result
	restarted := make(chan error, 1)
	restarted <- nil
	begin := time.Now()
	for res.Services < p.services || res.Lines < p.lines {
		every := p.services / p.servers
		if res.Services%every == every/2 && res.Servers < p.servers {
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
			res.Servers++
			go func() {
				time.Sleep(rand.N(time.Second))
				r.Kill()
				time.Sleep(rand.N(500 * time.Millisecond))
				restarted <- r.Start()
			}()
		}
		round := strconv.Itoa(res.Services)
		mean := p.lines / p.services
		returned[round] = killService(t, dir, r.URL(), round, mean/2+rand.N(mean+mean/10),
			rand.N(20*time.Millisecond))
		res.Lines += returned[round]
		res.Services++
	}
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	logged := time.Since(begin)
	if err := service(dir, r.URL(), "").Run(); err != nil {
		t.Fatalf("what was left: %v", err)
	}
	res.Draining = time.Since(begin) - logged
	res.count(t, r, returned)
	t.Logf(
		"%d lines, %d kills of the service, %d of the server: %d not there, %d there twice; "+
			"logged in %v, the rest delivered in %v",
		res.Lines, res.Services, res.Servers, len(res.Lost), res.Repeated,
		logged.Round(time.Second), res.Draining.Round(time.Second))
	return res
}

// count compares the lines that have arrived with the calls that had returned.
func (res *Result) count(t *testing.T, r receivers.Receiver, returned map[string]int) {
	t.Helper()
	uids := map[string]string{}  // message by uid
	lines := map[string]string{} // messages of UIDs
	for a := range r.Arrivals(t) {
		if !strings.HasPrefix(a.Message, messagePrefix) {
			t.Fatalf("a record has the message %q", a.Message)
		}
		if old, ok := uids[a.Message]; ok {
			res.Repeated++
			if old != a.UID {
				t.Fatalf("%s has the identities %q and %q", a.Message, old, a.UID)
			}
			continue
		}
		if old, ok := lines[a.UID]; ok || a.UID == "" {
			t.Fatalf("%q identifies %q and %q", a.UID, old, a.Message)
		}
		uids[a.Message], lines[a.UID] = a.UID, a.Message
	}
	for round, n := range returned {
		for i := range n {
			if message := messagePrefix + round + "-" + strconv.Itoa(i); uids[message] == "" {
				res.Lost = append(res.Lost, message)
			}
		}
	}
}
