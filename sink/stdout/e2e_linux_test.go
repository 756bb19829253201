// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// scale returns how much the tests with processes do: little in an ordinary
// run, more with NIB_E2E=short, everything with NIB_E2E=full. Times are checked
// only with NIB_E2E, and not with -short (under the race detector, say).
func scale(t *testing.T) (rounds int, stopped time.Duration, timed bool) {
	mode := os.Getenv("NIB_E2E")
	switch {
	case mode == "full" && !testing.Short():
		return 100, 30 * time.Second, true
	case mode == "short" && !testing.Short():
		return 20, 2 * time.Second, true
	}
	return 3, 0, false
}

// TestE2EKilledServiceLosesNothing kills a service with SIGKILL: each line
// whose call had returned is in the pipe.
func TestE2EKilledServiceLosesNothing(t *testing.T) {
	rounds, _, _ := scale(t)
	for _, role := range []string{"log to the sink", "log to an os.File"} {
		t.Run(role, func(t *testing.T) {
			returned := 0
			for round := range rounds {
				returned += killed(t, role, 50+round*37%400)
			}
			t.Logf("%d kills: %d of %d lines whose calls had returned are in the pipe", rounds, returned, returned)
		})
	}
}

// killed kills a service after it has logged some lines, and returns how many
// calls had returned by then.
func killed(t *testing.T, role string, after int) (returned int) {
	t.Helper()
	c := start(t, role)
	before := flags(t, c.shared)
	text := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(c.out)
		text <- string(all)
	}()
	for returned < after {
		c.report(t)
		returned++
	}
	if got := flags(t, c.shared); got != before {
		t.Errorf("the shared description has flags %#o, want %#o", got, before)
	}
	must.Succeed(t, c.cmd.Process.Kill())
	for {
		line, err := c.reports.ReadString('\n')
		if err != nil {
			break
		}
		if n, _ := strconv.Atoi(line[:len(line)-1]); n != returned {
			t.Fatalf("got report %q, want %d", line, returned)
		}
		returned++
	}
	err := c.cmd.Wait()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the service ended with %v, want SIGKILL", err)
	}
	c.shared.Close()
	lines, notices, _ := parse(<-text)
	for i, l := range lines {
		if *l.N != i {
			t.Fatalf("line %d has number %d", i, *l.N)
		}
	}
	if len(lines) < returned || len(notices) > 0 {
		t.Errorf("got %d lines and %d notices, want at least the %d lines whose calls had returned", len(lines), len(notices), returned)
	}
	return returned
}

// TestE2EServiceOutlivesItsReader closes the reader of descriptor 1.
func TestE2EServiceOutlivesItsReader(t *testing.T) {
	for _, role := range []string{"outlive the reader", "outlive, buffered"} {
		t.Run(role, func(t *testing.T) {
			c := start(t, role)
			c.shared.Close()
			if got := c.report(t); got != "logged" {
				t.Fatalf("got report %q", got)
			}
			// Wait for the line, so that it is not among the lost ones.
			if _, err := c.out.Read(make([]byte, 1<<16)); err != nil {
				t.Fatal(err)
			}
			c.out.Close()
			if _, err := c.goOn.Write([]byte{'\n'}); err != nil {
				t.Fatal(err)
			}
			if got, want := c.report(t), "lines 1, gone 999, of 1000; reported true"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if err := c.cmd.Wait(); err != nil {
				t.Errorf("the service ended with %v", err)
			}
		})
	}
}

// TestE2EStoppedReaderDoesNotDelayCallers has a reader that does not read for a
// while and then resumes. A real fault makes calls too long in each round, a
// busy machine only in some.
func TestE2EStoppedReaderDoesNotDelayCallers(t *testing.T) {
	_, stopped, timed := scale(t)
	const stall, tries = 100 * time.Millisecond, 5
	for _, role := range []string{"be stalled", "be stalled buffered"} {
		t.Run(role, func(t *testing.T) {
			for try := 1; ; try++ {
				got := stopReader(t, role, stall, stopped)
				t.Logf("reader stopped for %v: %d calls, the longest took %v (the machine was late by %v); %d lines dropped, %d written",
					stopped, got.Calls, got.Longest, got.Late, got.Stats.Lost(), got.Stats.Lines)
				most := stall + 50*time.Millisecond + got.Late
				if !timed || got.Longest <= most {
					return
				}
				if try == tries {
					t.Fatalf("a call took %v, want at most %v, including %v by which the "+
						"machine was late", got.Longest, most, got.Late)
				}
			}
		})
	}
}

// stopReader runs a service whose reader stops and resumes, and checks the
// reports of the service and the lines of the reader.
func stopReader(t *testing.T, role string, stall, stopped time.Duration) (got stallReport) {
	t.Helper()
	c := start(t, role, stallVar+"="+stall.String(), runVar+"="+stopped.String())
	c.shared.Close()
	if got := c.report(t); got != "stalled" {
		t.Fatalf("got report %q", got)
	}
	all, err := io.ReadAll(c.out)
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal([]byte(c.report(t)), &got))
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	if err := checkStallReport(got, string(all)); err != nil {
		t.Error(err)
	}
	return got
}

// TestE2ESlowReaderGetsALongLine has a reader that takes more than Stall for a
// line, but not for 64 KiB.
func TestE2ESlowReaderGetsALongLine(t *testing.T) {
	if _, _, timed := scale(t); !timed {
		t.Skip("it takes its time: only with NIB_E2E")
	}
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Second})
	written := make(chan error, 1)
	go func() {
		written <- s.WriteRecord(record(nib.LevelInfo, 1, 1<<20))
		s.Close()
		w.Close()
	}()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	var text []byte
	for chunk := make([]byte, 64<<10); ; <-tick.C {
		n, err := r.Read(chunk)
		text = append(text, chunk[:n]...)
		if err != nil {
			break
		}
	}
	if err := <-written; err != nil {
		t.Errorf("got %v after %d bytes", err, len(text))
	}
	checkStream(t, s, string(text))
}

// checkStallReport checks that all lines are accounted for, and that each loss
// was reported to the reader before later lines.
func checkStallReport(got stallReport, text string) error {
	st := got.Stats
	if sum := st.Lines + st.Lost(); sum != uint64(got.Logged) || st.Pending != 0 {
		return errors.New("written and dropped are not what was logged: " + strconv.FormatUint(sum, 10) + " of " + strconv.Itoa(got.Logged))
	}
	lines, notices, torn := parse(text)
	if uint64(len(lines)) != st.Lines || uint64(len(notices)) != st.Notices || len(torn) > 0 {
		return errors.New("the reader got something else than the service has counted")
	}
	var reported uint64
	for _, n := range notices {
		reported += n.Dropped
	}
	if reported == 0 || reported != st.Lost() {
		return errors.New("the notices report " + strconv.FormatUint(reported, 10) + " lost lines, not all " + strconv.FormatUint(st.Lost(), 10))
	}
	return nil
}
