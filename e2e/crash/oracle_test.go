// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// A lineID identifies a line: the process and the goroutine that logged it, and
// its number. The padding of a line follows from these and the seed, and a
// checksum comes last, so that a changed line is recognised.
type lineID struct{ round, writer, k int }

// A padding is the text that the padding of lines is cut from.
type padding struct {
	text string
	most int
}

func newPadding(seed uint64, most int) *padding {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	rng := rand.New(rand.NewPCG(seed, 99))
	b := make([]byte, most)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return &padding{string(b), most}
}

// of returns the padding of a line: short ones are frequent, long ones are
// rare.
func (p *padding) of(id lineID) string {
	h := mix(uint64(id.round)<<48 ^ uint64(id.writer)<<32 ^ uint64(id.k))
	n := int(h % uint64(p.most/8+1))
	if h>>40%16 == 0 {
		n = int(h >> 8 % uint64(p.most+1))
	}
	from := int(h >> 20 % uint64(p.most-n+1))
	return p.text[from : from+n]
}

func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x
}

func logLine(log *nib.Logger, round, writer, k int, pad *padding) {
	addLine(log.Info(), lineID{round, writer, k}, pad)
}

func addLine(e *nib.Event, id lineID, pad *padding) {
	text := pad.of(id)
	e.Int("r", id.round).Int("w", id.writer).Int("k", id.k).Str("pad", text).
		Uint64("sum", uint64(crc32.ChecksumIEEE([]byte(text)))).Msg("line")
}

// parse reads a line back. ok is false if it is not exactly a line of logLine.
func parse(line []byte) (id lineID, ok bool) {
	head, rest, ok := bytes.Cut(line, []byte(`","r":`))
	if !ok || !bytes.HasPrefix(head, []byte(`{"time":"`)) || !bytes.Contains(head, []byte(`","level":"`)) {
		return id, false
	}
	for _, f := range []struct {
		to   *int
		next string
	}{{&id.round, `,"w":`}, {&id.writer, `,"k":`}, {&id.k, `,"pad":"`}} {
		var text []byte
		if text, rest, ok = bytes.Cut(rest, []byte(f.next)); !ok {
			return id, false
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return id, false
		}
		*f.to = n
	}
	pad, rest, ok := bytes.Cut(rest, []byte(`","sum":`))
	want := strconv.AppendUint(nil, uint64(crc32.ChecksumIEEE(pad)), 10)
	return id, ok && string(rest) == string(want)+`,"message":"line"}`
}

// A ledger has the records of the processes about their calls.
type ledger struct {
	begun, accepted map[writerID]int
	rounds          int
}

type writerID struct{ round, writer int }

func newLedger() *ledger { return &ledger{begun: map[writerID]int{}, accepted: map[writerID]int{}} }

// enter adds the entries of a board after the end of a process, and clears the
// board.
func (l *ledger) enter(round int, b *board) {
	l.rounds++
	for w := range b.writers() {
		if n := b.lane(w, laneBegun).Load(); n > 0 {
			l.begun[writerID{round, w}] = int(n)
			l.accepted[writerID{round, w}] = int(b.lane(w, laneAccepted).Load())
		}
	}
	for i := range b.words {
		b.words[i].Store(0)
	}
}

// A verdict has the findings of the oracle.
type verdict struct {
	accepted   int // calls that returned without an error
	lines      int // that are there, other than notices
	lost       int // accepted and not there
	duplicates int
	torn       int // text that is not a line
	misordered int // of one goroutine
	invented   int // lines that were never logged
	notices    int // of losses, by the spool or the file
	example    string
}

func (v verdict) String() string {
	return fmt.Sprintf("%d accepted, %d lost, %d torn, %d duplicates, %d out of order, %d invented",
		v.accepted, v.lost, v.torn, v.duplicates, v.misordered, v.invented)
}

// clean reports whether everything is there once, and nothing else.
func (v verdict) clean() bool {
	return v.lost+v.duplicates+v.torn+v.misordered+v.invented == 0
}

// judge compares the text of a log with the ledger.
func (l *ledger) judge(text []byte) (v verdict) {
	found := map[writerID][]int{}
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		text = rest
		id, ok := parse(line)
		switch {
		case len(line) == 0: // ends a torn line
		case ok && ended:
			at := writerID{id.round, id.writer}
			found[at] = append(found[at], id.k)
			v.lines++
		case ended && bytes.Contains(line, []byte(`"message":"lines lost`)):
			v.notices++
		default:
			v.torn++
			v.note("torn: %.200q", line)
		}
	}
	for at, n := range l.accepted {
		v.accepted += n
		l.judgeLane(&v, at, found[at])
		delete(found, at)
	}
	for at, ks := range found {
		v.invented += len(ks)
		v.note("nobody is %v", at)
	}
	return v
}

// judgeLane checks the lines of one goroutine.
func (l *ledger) judgeLane(v *verdict, at writerID, ks []int) {
	has, last := map[int]bool{}, -1
	for _, k := range ks {
		switch {
		case k < 0 || k >= l.begun[at]:
			v.invented++
			v.note("%v: line %d of %d", at, k, l.begun[at])
		case has[k]:
			v.duplicates++
			v.note("%v: line %d again", at, k)
		case k < last:
			v.misordered++
			v.note("%v: line %d after %d", at, k, last)
		default:
			last = k
		}
		has[k] = true
	}
	for k := range l.accepted[at] {
		if !has[k] {
			v.lost++
			v.note("%v: line %d of %d is missing", at, k, l.accepted[at])
		}
	}
}

func (v *verdict) note(format string, values ...any) {
	if v.example == "" {
		v.example = fmt.Sprintf(format, values...)
	}
}

// add sums verdicts up.
func (v *verdict) add(u verdict) {
	v.accepted += u.accepted
	v.lines += u.lines
	v.lost += u.lost
	v.duplicates += u.duplicates
	v.torn += u.torn
	v.misordered += u.misordered
	v.invented += u.invented
	v.notices += u.notices
	if v.example == "" {
		v.example = u.example
	}
}

// logText returns the text of a log file and the rotated ones, oldest first.
func logText(t testing.TB, path string) (text []byte) {
	t.Helper()
	names, err := filepath.Glob(path[:len(path)-len(".log")] + "-*.log")
	must(t, err)
	slices.Sort(names)
	for _, name := range append(names, path) {
		b, err := os.ReadFile(name)
		must(t, err)
		text = append(text, b...)
	}
	return text
}

// deliverRest acts as the next process: it opens the spool, and returns when
// all is delivered and accounted for.
func deliverRest(t testing.TB, p place, maxFile int64) spool.Stats {
	t.Helper()
	f, err := file.Open(p.log, file.Config{MaxSize: maxFile})
	must(t, err)
	defer f.Close()
	c := spool.Config{SegmentSize: 64 << 10}
	if p.second != "" {
		f, err := file.Open(p.second, file.Config{})
		must(t, err)
		defer f.Close()
		c.Also = []spool.NamedDestination{{Name: "second", To: f}}
	}
	s, err := spool.Open(p.spool, f, c)
	if err != nil {
		t.Fatalf("the start is refused: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, s.Flush(ctx), s.Close())
	st := s.Stats()
	checkAccounts(t, st)
	if st.Pending != 0 {
		t.Errorf("%d lines are pending after Flush", st.Pending)
	}
	return st
}

// check delivers the rest and judges.
func (l *ledger) check(t testing.TB, p place, maxFile int64) (verdict, spool.Stats) {
	t.Helper()
	st := deliverRest(t, p, maxFile)
	v := l.judge(logText(t, p.log))
	if p.second != "" {
		v.add(l.judge(logText(t, p.second)))
	}
	if !v.clean() {
		t.Errorf("%v (%s)", v, v.example)
	}
	return v, st
}
