// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// The test binary starts itself as a service to be killed, configured by the
// environment.
const (
	childDir     = "NIB_SPOOL_DIR"
	childFile    = "NIB_SPOOL_FILE" // to deliver to; "" keeps everything in the spool
	childRound   = "NIB_SPOOL_ROUND"
	childWriters = "NIB_SPOOL_WRITERS"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) == "" {
		os.Exit(m.Run())
	}
	child := logUntilKilled
	switch {
	case os.Getenv(childBoot) != "":
		child = logUntilCut
	case os.Getenv(childPause) != "":
		child = logUnderGC
	}
	if err := child(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// An appender is a destination that appends the lines it accepts to a file.
type appender struct {
	f   *os.File
	buf []byte
}

// appendTo returns an appender to a file. It ends a line that a kill has cut
// off, as the next batch would become a part of it. If the line was the first
// of its batch, the next batch begins with it, and nothing else has it.
func appendTo(name string) (*appender, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		_, err = f.WriteString("\n")
	}
	return &appender{f: f}, err
}

func (a *appender) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	a.buf = a.buf[:0]
	for _, r := range batch {
		a.buf = append(a.buf, r.Line...)
	}
	if _, err := a.f.Write(a.buf); err != nil {
		return delivery.Result{}, err
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

// lineID returns the id in a line. The child prints it when the call for the
// line has returned.
func lineID(round, writer, n int) uint64 { return uint64(round)<<48 | uint64(writer)<<32 | uint64(n) }

func logUntilKilled() error {
	var dest delivery.Destination
	if name := os.Getenv(childFile); name != "" {
		a, err := appendTo(name)
		if err != nil {
			return err
		}
		dest = a
	}
	s, err := Open(os.Getenv(childDir), dest, Config{SegmentSize: segment.MinSize, Size: 4 << 30,
		OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}}) // the disk may be slow
	if err != nil {
		return err
	}
	round, _ := strconv.Atoi(os.Getenv(childRound))
	writers, _ := strconv.Atoi(os.Getenv(childWriters))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; ; n++ {
				id := lineID(round, w, n)
				line := fmt.Appendf(nil, `{"id":%d,"pad":"%*d"}`+"\n", id, n%300, 0)
				if err := s.WriteRecord(&nib.Record{Line: line}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1) // the parent wants to see a death by SIGKILL
				}
				if _, err := os.Stdout.Write(binary.LittleEndian.AppendUint64(nil, id)); err != nil {
					return
				}
			}
		}()
	}
	wg.Wait()
	return errors.New("standard output was closed")
}

// killed runs a child until it has acknowledged a number of lines, kills it,
// and returns all acknowledged ids.
func killed(t *testing.T, dir, file string, round, writers, after int) (acked []uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childFile+"="+file,
		childRound+"="+strconv.Itoa(round), childWriters+"="+strconv.Itoa(writers))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	in := bufio.NewReader(out)
	var word [8]byte
	for {
		if _, err := io.ReadFull(in, word[:]); err != nil {
			break
		}
		if acked = append(acked, binary.LittleEndian.Uint64(word[:])); len(acked) == after {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if len(acked) < after {
		t.Fatalf("the child reported %d lines only", len(acked))
	}
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || st.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by %v", cmd.ProcessState)
	}
	return acked
}

// killRounds kills children with 1, 8 and 1000 goroutines, and returns the ids
// that each has acknowledged.
func killRounds(t *testing.T, dir, file string) (rounds int, acked [][]uint64) {
	rounds = seed.Times(500, 12, 3)
	t.Logf("%d rounds", rounds)
	rng := rand.New(rand.NewPCG(seed.Of(t), 0))
	for round := range rounds {
		acked = append(acked, killed(t, dir, file, round, []int{1, 8, 1000}[round%3], 1+rng.IntN(2000)))
	}
	return rounds, acked
}

// idsOf returns the ids in the lines of text. Only a line that a kill has cut
// off may be torn.
func idsOf(text []byte) (ids []uint64, torn int) {
	for len(text) > 0 {
		var id, pad uint64
		end := 0
		for end < len(text) && text[end] != '\n' {
			end++
		}
		line := string(text[:end])
		text = text[min(end+1, len(text)):]
		if n, _ := fmt.Sscanf(line, `{"id":%d,"pad":"%d"}`, &id, &pad); n != 2 {
			torn++
			continue
		}
		ids = append(ids, id)
	}
	return ids, torn
}

// checkAcked checks that all acknowledged lines are there, in the order of each
// goroutine, and returns how many are there more than once.
func checkAcked(t *testing.T, acked [][]uint64, ids []uint64) (again int) {
	t.Helper()
	has, last := map[uint64]bool{}, map[uint64]int64{}
	for _, id := range ids {
		if has[id] {
			again++
			continue
		}
		has[id] = true
		writer, n := id>>32, int64(uint32(id))
		if prev, ok := last[writer]; ok && n != prev+1 || !ok && n != 0 {
			t.Errorf("writer %x: line %d follows %d", writer, n, prev)
		}
		last[writer] = n
	}
	lost, all := 0, 0
	for _, ids := range acked {
		for _, id := range ids {
			all++
			if !has[id] {
				lost++
			}
		}
	}
	t.Logf("acknowledged %d, lost %d, again %d, in all %d", all, lost, again, len(ids))
	if lost > 0 {
		t.Errorf("%d lines are lost", lost)
	}
	return again
}

// TestKillKeepsLines kills processes that keep their lines in a spool, one
// after the other in the same one. The lines whose calls have returned are
// delivered in the end, once.
func TestKillKeepsLines(t *testing.T) {
	dir := spoolDir(t)
	_, acked := killRounds(t, dir, "")
	f := &far{}
	s := open(t, dir, f, Config{})
	must(t, s.Flush(context.Background()), s.Close())
	var text []byte
	for _, line := range f.take() {
		text = append(text, line...)
	}
	ids, torn := idsOf(text)
	if again := checkAcked(t, acked, ids); again > 0 || torn > 0 {
		t.Errorf("got %d lines again and %d torn, want none", again, torn)
	}
	st := checkIdentity(t, s)
	if st.Lost() != 0 || st.Bad != 0 || st.Pending != 0 {
		t.Errorf("got %+v, want nothing lost and nothing put aside", st)
	}
	t.Logf("%d calls were cut off", st.Unfinished)
}

// TestKillWhileDelivering kills processes while they deliver: at most one batch
// of each is delivered twice.
func TestKillWhileDelivering(t *testing.T) {
	dir, file := spoolDir(t), filepath.Join(t.TempDir(), "lines")
	must(t, os.WriteFile(file, nil, 0o600))
	rounds, acked := killRounds(t, dir, file)
	out, err := appendTo(file)
	must(t, err)
	defer out.f.Close()
	s := open(t, dir, out, Config{})
	must(t, s.Flush(context.Background()), s.Close())
	text, err := os.ReadFile(file)
	must(t, err)
	ids, torn := idsOf(text)
	if again := checkAcked(t, acked, ids); again > rounds*deliver.BatchRecords || torn > rounds {
		t.Errorf("got %d lines again and %d torn in %d rounds", again, torn, rounds)
	}
}
