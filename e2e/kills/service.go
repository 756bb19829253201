// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kills

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// The test binary starts itself again as a service.
const (
	childDir   = "NIB_E2E_DIR"
	childURL   = "NIB_E2E_URL"
	childRound = "NIB_E2E_ROUND" // if empty, the service delivers the remaining records
)

// Main runs the tests of a package, or, in a process that Run has started, a
// service that delivers to the destination that open returns for the URL of a
// receiver. TestMain calls it.
func Main(m *testing.M, open func(url string) (delivery.Destination, error)) {
	if os.Getenv(childDir) == "" {
		os.Exit(m.Run())
	}
	if err := serve(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// patient makes calls wait if the disk is busy or the spool is full, instead of
// dropping lines.
var patient = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock,
	Wait: 10 * time.Minute}}

// serve logs until it is killed, up to forty thousand lines per second, and
// writes the number of calls that have returned to standard output.
func serve(open func(url string) (delivery.Destination, error)) error {
	d, err := open(os.Getenv(childURL))
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
	var message []byte
	for n := 0; ; {
		for range 100 {
			message = strconv.AppendInt(
				append(append(append(message[:0], messagePrefix...), round...), '-'), int64(n), 10)
			log.Info().Str("customer", "c-17").Int("n", n).Dur("took", 1234567).Msg(string(message))
			n++
		}
		fmt.Fprintln(out, n)
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(2500 * time.Microsecond)
	}
}

// messagePrefix is followed by the round and the number of the line: "order
// 7-1234".
const messagePrefix = "order "

func service(dir, url, round string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+url, childRound+"="+round)
	cmd.Stderr = os.Stderr
	return cmd
}

// killService runs a service until it has logged a number of lines and some
// time has passed, kills it, and returns the number of calls that had returned.
func killService(
	t *testing.T, dir, url, round string, lines int, after time.Duration,
) (returned int) {
	t.Helper()
	cmd := service(dir, url, round)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	for in := bufio.NewScanner(out); in.Scan(); {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			continue
		}
		if returned = n; returned >= lines && timer == nil {
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	if timer == nil {
		t.Fatalf("the service ended after %d lines", returned)
	}
	return returned
}
