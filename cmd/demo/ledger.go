// SPDX-License-Identifier: Apache-2.0

package main

// A ledger has the result of the call of each line of a plan, and whether each
// request was answered. The files are compared with it.
type ledger struct {
	plan    plan
	calls   [2][][]call // per kind of line, connection, request
	cut     [][]bool    // requests whose connection ended with the worker
	logged  int         // calls that returned nil
	dropped int         // calls that returned an error
}

// A call is the known result of the call that writes a line.
type call uint8

const (
	unknown call = iota // the call did not return, or was never made
	returned
	refused
)

func newLedger(p plan) *ledger {
	l := &ledger{plan: p}
	for c := range p.connections {
		for kind := range l.calls {
			l.calls[kind] = append(l.calls[kind], make([]call, p.of(c)))
		}
		l.cut = append(l.cut, make([]bool, p.of(c)))
	}
	return l
}

// note records a report of a worker. A line that is reported twice was written
// twice, and counts as a duplicate.
func (l *ledger) note(k lineKey, as call) {
	if k.kind >= len(l.calls) || k.connection >= len(l.calls[k.kind]) || k.n >= len(l.calls[k.kind][k.connection]) {
		return
	}
	at := &l.calls[k.kind][k.connection][k.n]
	if *at == unknown {
		if as == returned {
			l.logged++
		} else {
			l.dropped++
		}
	}
	*at = as
}

// must reports whether a line must be found: its call has returned, or its
// request was answered, which happens later.
func (l *ledger) must(k lineKey) bool {
	c := l.calls[k.kind][k.connection][k.n]
	if k.kind == serviceLine && !expect(k.n).logs {
		return false
	}
	return c == returned || c == unknown && !l.cut[k.connection][k.n]
}

// returned reports whether the call of a line has returned.
func (l *ledger) returned(k lineKey) bool {
	return l.calls[k.kind][k.connection][k.n] == returned
}

// cutOff counts the requests whose connection ended with the worker.
func (l *ledger) cutOff() (n int) {
	for _, c := range l.cut {
		for _, cut := range c {
			if cut {
				n++
			}
		}
	}
	return n
}
