// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"math"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

// An index counts the lines of a document that a query selects, per block. Rows
// are numbered from where the document ended when it was opened: the lines
// before it are -1, -2 and so on, those appended since are 0, 1 and so on. So a
// row keeps its number while the index goes backward from there to the
// beginning of the document, and forward with appended lines.
type index struct {
	doc    *document
	query  *logread.Query
	window *window // the window of the query, or nil

	mu      sync.Mutex
	back    []block // blocks from the origin back to the beginning of the document
	forward []block // blocks from the origin on
	totals  counts
	hist    histogram
	err     error
	changed chan struct{} // closed with each change
	used    time.Time     // time of the last request

	facets facets
}

// A block is a part of a document: [start, end).
type block struct {
	start, end int64
	rows       int64  // number of rows in it and in the blocks between it and the origin
	errors     uint32 // number of its rows at level error and above

	first, last int64 // earliest and latest time of its rows, in Unix nanoseconds
}

func newIndex(doc *document, query *logread.Query, w *window) *index {
	return &index{doc: doc, query: query, window: w, changed: make(chan struct{}), used: time.Now()}
}

// A found is the result of scanning a block.
type found struct {
	block
	times []int64 // Unix nanoseconds, noTime without
	class []class
	err   error
}

const noTime = math.MinInt64

// A scanner reads blocks.
type scanner struct {
	buf  []byte
	line logread.Line
}

func newScanner() *scanner {
	s := new(scanner)
	s.line.SetZone(time.Local)
	return s
}

// each calls yield for each selected line that begins in a block.
func (s *scanner) each(x *index, b block, yield func(at int64, l *logread.Line) bool) (err error) {
	s.line.Own = x.doc.keys
	s.buf, err = x.doc.lines(s.buf, b.start, b.end, func(at int64, line []byte) bool {
		s.line.Reset(line)
		return !x.query.Match(&s.line) || yield(at, &s.line)
	})
	return err
}

func (s *scanner) scan(x *index, b block, withFacets bool, f *found) {
	*f = found{block: b, times: f.times[:0], class: f.class[:0]}
	f.rows, f.first, f.last = 0, math.MaxInt64, math.MinInt64
	f.err = s.each(x, b, func(_ int64, l *logread.Line) bool {
		c := classOf(l.Level())
		if c >= classError {
			f.errors++
		}
		at := int64(noTime)
		switch t, ok := l.Time(); {
		case !ok:
		case t.Year() > 1700 && t.Year() < 2200:
			at = t.UnixNano()
			f.first, f.last = min(f.first, at), max(f.last, at)
		default:
			f.first, f.last = math.MinInt64, math.MaxInt64
		}
		f.rows++
		f.times, f.class = append(f.times, at), append(f.class, c)
		if withFacets {
			withFacets = x.facets.add(l)
		}
		return true
	})
}

// run extends the index until ctx ends.
func (x *index) run(ctx context.Context) {
	scanners := make([]*scanner, min(runtime.GOMAXPROCS(0), 4))
	for i := range scanners {
		scanners[i] = newScanner()
	}
	results := make([]found, len(scanners))
	if x.window != nil {
		x.window.find(x.doc)
	}
	for ctx.Err() == nil {
		end, grown := x.doc.state()
		if x.scanForward(scanners[0], &results[0], end) {
			continue
		}
		if x.scanBack(scanners, results) {
			continue
		}
		select {
		case <-ctx.Done():
		case <-grown:
		}
	}
}

// scanForward scans the appended lines. It reports false if there are none.
func (x *index) scanForward(s *scanner, f *found, end int64) bool {
	from := x.doc.origin
	if n := len(x.forward); n > 0 { // run alone changes it
		from = x.forward[n-1].end
	}
	if from >= end || x.err != nil {
		return false
	}
	s.scan(x, block{start: from, end: min(end, from+blockSize)}, true, f)
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.forward); n > 0 && x.forward[n-1].end-x.forward[n-1].start < blockSize {
		last := &x.forward[n-1]
		last.end, last.rows, last.errors = f.end, last.rows+f.rows, last.errors+f.errors
	} else {
		x.forward = append(x.forward, f.after(rowsOf(x.forward)))
	}
	x.publish(f)
	return true
}

// scanBack scans one block per scanner. It reports false if no block is left.
func (x *index) scanBack(scanners []*scanner, results []found) bool {
	at := x.doc.origin
	if n := len(x.back); n > 0 {
		at = x.back[n-1].start
	}
	if at == 0 || x.err != nil {
		return false
	}
	_, facetLines := x.facets.count()
	var wait sync.WaitGroup
	n := 0
	for ; n < len(scanners) && at > 0; n++ {
		if start := x.window.behind(at); start < at {
			if n == 0 {
				x.leaveOut(start, at)
				return true
			}
			break
		}
		b := block{start: max(0, at-blockSize, x.window.partOf(at).From), end: at}
		at = b.start
		s, f := scanners[n], &results[n]
		wait.Go(func() { s.scan(x, b, facetLines < maxFacetLines, f) })
	}
	wait.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range results[:n] {
		x.back = append(x.back, results[i].after(rowsOf(x.back)))
		x.publish(&results[i])
	}
	return true
}

// leaveOut adds a block without rows, which is not scanned.
func (x *index) leaveOut(start, end int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := found{block: block{start: start, end: end}}
	x.back = append(x.back, f.after(rowsOf(x.back)))
	x.publish(&f)
}

// after returns the block, given the number of rows between it and the origin.
func (f *found) after(rows int64) block {
	b := f.block
	b.rows += rows
	return b
}

// publish adds the counts of a block. mu is held.
func (x *index) publish(f *found) {
	for i, at := range f.times {
		x.totals[f.class[i]]++
		if at != noTime {
			x.hist.add(at, f.class[i])
		}
	}
	if f.err != nil {
		x.err = f.err
	}
	close(x.changed)
	x.changed = make(chan struct{})
}

func (f *facets) count() (keys int, lines int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.keys), f.lines
}

// bounds returns the number of the first row, and the number after the last.
func (x *index) bounds() (low, high int64) { return -rowsOf(x.back), rowsOf(x.forward) }

// rowsOf returns the number of rows between the origin and the end of a list of
// blocks.
func rowsOf(list []block) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].rows
}

// A stretch is a block with the number of its first row.
type stretch struct {
	block
	first, last int64 // rows of it: [first, last)
}

// stretchOf returns the block that contains a row.
func (x *index) stretchOf(row int64) (s stretch, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stretch(row)
}

func (x *index) stretch(row int64) (s stretch, ok bool) {
	list, k := x.forward, row+1
	if row < 0 {
		list, k = x.back, -row
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].rows >= k })
	return newStretch(list, i, row < 0)
}

// newStretch returns list[i] with its rows, which are negative before the
// origin. It reports false if there is no such block.
func newStretch(list []block, i int, isBack bool) (s stretch, ok bool) {
	if i == len(list) {
		return s, false
	}
	s = stretch{list[i], rowsOf(list[:i]), list[i].rows}
	if isBack {
		s.first, s.last = -s.last, -s.first
	}
	return s, true
}

// rows calls yield for the rows beginning with from, until yield returns false.
func (x *index) rows(
	ctx context.Context, s *scanner, from int64, yield func(row, at int64, l *logread.Line) bool,
) error {
	for more := true; more; {
		part, ok := x.stretchOf(from)
		if !ok {
			return nil
		}
		row := part.first
		err := s.each(x, part.block, func(at int64, l *logread.Line) bool {
			if row >= from {
				more = yield(row, at, l) && ctx.Err() == nil
			}
			row++
			return more
		})
		if err != nil || row <= from {
			return err
		}
		from = part.last
	}
	return nil
}
