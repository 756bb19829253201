// SPDX-License-Identifier: Apache-2.0

//go:build linux && go1.25

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/sink/spool"
)

// A model records the lines that must be in the log: all accepted ones, in the
// order of the calls. It acts on a spool and its destination at random, in
// virtual time. When all goroutines of the bubble are blocked, the files are
// those that a process that dies now would leave, so a copy of them is a death.
type model struct {
	*testing.T
	rng  *rand.Rand
	root string
	n    int // of the places used
	v    *local
	pad  *padding
	k    int // of the next line
	done []string
}

// open starts a process in place n.
func (m *model) open(p place) {
	c := spool.Config{SegmentSize: segment, Size: int64(3+m.rng.IntN(4)) * segment, Drain: 10 * time.Second,
		Written: m.rng.IntN(2) == 1}
	m.v = newLocal(m, p, 1, 3000, c)
}

// step takes one action.
func (m *model) step() {
	steps := []struct {
		name string
		do   func()
	}{
		{"log", func() { m.log(1 + m.rng.IntN(40)) }},
		{"log", func() { m.log(1 + m.rng.IntN(10)) }},
		{"fault", func() { m.v.dest.set(flap(m.rng, m.rng.IntN(len(flaps)))) }},
		{"heal", func() { m.v.dest.set(nil) }},
		{"wait", func() { time.Sleep(time.Duration(m.rng.IntN(5000)) * time.Millisecond) }},
		{"flush", func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = m.v.spool.Flush(ctx) // the destination may be down
		}},
		{"sync", func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := m.v.spool.Sync(ctx); err != nil && !errors.Is(err, errors.ErrUnsupported) { // as in memory
				m.Error(err)
			}
		}},
		{"rotate", func() { must(m, m.v.file.Rotate()) }},
		{"close", func() { m.close(); m.open(m.v.p) }},
		{"crash", m.crash},
	}
	if m.v.p.spool == "" { // it ends with the process
		steps = steps[:len(steps)-2]
	}
	s := steps[m.rng.IntN(len(steps))]
	m.done = append(m.done, s.name)
	s.do()
}

// log logs lines. The next step, if there is any, logs a refused line again.
func (m *model) log(n int) {
	l := newLane(m.v.spool)
	for range n {
		if logLine(l.log, 0, 0, m.k, m.pad); l.err != nil {
			return
		}
		m.k++
	}
}

func (m *model) close() {
	_ = m.v.spool.Close() // lines may be left
	must(m, m.v.file.Close())
	checkAccounts(m, m.v.spool.Stats())
}

// crash simulates the death of the process, and starts another one on its
// files.
func (m *model) crash() {
	synctest.Wait()
	m.n++
	p := place{base: filepath.Join(m.root, fmt.Sprint(m.n))}
	p.spool, p.log = filepath.Join(p.base, "spool"), filepath.Join(p.base, "log", "app.log")
	must(m, os.Mkdir(p.base, 0o700), os.CopyFS(p.spool, os.DirFS(m.v.p.spool)), os.CopyFS(filepath.Dir(p.log), os.DirFS(filepath.Dir(m.v.p.log))),
		os.Chmod(p.spool, 0o700))
	m.v.dest.set(refuse)
	m.close() // the goroutines of the dead process must end; its files are not read any more
	must(m, os.RemoveAll(m.v.p.base))
	m.open(p)
}

// TestModel is row 31.
func TestModel(t *testing.T) {
	r := begin(t, "31")
	sequences := count(150, 10_000)
	root := shmDir(t)
	lines, steps, deaths, again := 0, 0, 0, 0
	for n := range sequences {
		m := &model{rng: rand.New(rand.NewPCG(seed, uint64(n))), root: root, pad: newPadding(seed, 3000)}
		synctest.Test(t, func(t *testing.T) {
			m.T = t
			p := newPlace(t, root)
			if n%4 == 3 {
				p.spool = "" // in memory
			}
			m.open(p)
			for range 3 + m.rng.IntN(20) {
				m.step()
			}
			m.v.dest.set(nil)
			must(t, m.v.spool.Flush(context.Background()))
			m.close()
			l := newLedger()
			l.rounds, l.begun[writerID{}], l.accepted[writerID{}] = 1, m.k+1, m.k
			v := l.judge(logText(t, m.v.p.log))
			if again += v.duplicates; !v.clean() {
				t.Errorf("sequence %d of seed %d: %v (%s) after %q", n, seed, v, v.example, m.done)
			}
			lines += v.lines
			must(t, os.RemoveAll(m.v.p.base))
		})
		steps += len(m.done)
		for _, s := range m.done {
			if s == "crash" {
				deaths++
			}
		}
		if t.Failed() {
			break
		}
	}
	r.found("%d sequences of %d steps, %d deaths, %d lines, %d duplicates", sequences, steps, deaths, lines, again)
}
