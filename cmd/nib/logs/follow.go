// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

// Tail returns sources that begin with the last n selected lines and never end.
// A compressed file ends. Of a source that is neither a file nor a spool, it
// returns the source itself. Files stay open for one call of Open.
func Tail(sources []Source, s Selection, n int) ([]Source, error) {
	var list []Source
	var errs []error
	for _, source := range sources {
		if source.spool != "" {
			from, err := tailPlace(source.spool, s, n)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
				continue
			}
			list = append(list, spoolSource(source.spool, true, from, place{}, s))
			continue
		}
		if source.Path == "" {
			if source.files != nil && isRegular(source.Name) {
				source = lastLines(source, s, n)
			}
			list = append(list, source)
			continue
		}
		f := newFollower(source.Path, s, every)
		first, from, err := openTail(source.Path, s, n)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it is waited for
			s.report("waiting for %s", source.Path)
		case errors.Is(err, fs.ErrPermission) && len(sources) > 1:
			// It is waited for, too, and reported by the follower.
		case err != nil:
			errs = append(errs, err)
			continue
		}
		list = append(list, f.source(first, from))
	}
	return list, errors.Join(errs...)
}

const tailBlock = 256 << 10

// openTail opens a file at the offset of its last n selected lines. It reads
// the file from its end, and no more than it needs.
func openTail(path string, s Selection, n int) (f *os.File, from int64, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		from, err = lastOffset(f, info.Size(), s, n)
	}
	if err == nil {
		from, err = beforeParts(f, from)
	}
	if err == nil {
		_, err = f.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, from, nil
}

// lastOffset returns the offset of the last n selected lines before end.
func lastOffset(f *os.File, end int64, s Selection, n int) (int64, error) {
	if n == 0 {
		return end, nil
	}
	w := s.newWorker(nil, false)
	buf := make([]byte, tailBlock)
	for end > 0 {
		from := max(end-int64(len(buf)), 0)
		block := buf[:end-from]
		if _, err := f.ReadAt(block, from); err != nil && err != io.EOF {
			return 0, err
		}
		start := 0
		if from > 0 {
			start = bytes.IndexByte(block, '\n') + 1
			if logread.IsJavaLevel(block[start:]) { // the line before it belongs to it
				start += logread.LineLen(block[start:])
			}
			if start == 0 || start == len(block) {
				buf = make([]byte, 2*len(buf))
				continue
			}
		}
		for at := len(block); at > start; {
			line := start + bytes.LastIndexByte(block[start:at-1], '\n') + 1
			_, textFrom, textEnd, goesOn := textOf(block[line:at])
			if goesOn {
				at = line
				continue
			}
			w.line.Reset(block[line:at])
			text := block[line:at][textFrom:textEnd]
			if line > start && logread.IsJavaLevel(text) {
				from := start + bytes.LastIndexByte(block[start:line-1], '\n') + 1
				if record := joinedPair(block[from:at]); record != nil {
					w.line.Reset(record)
					line = from
				}
			}
			if w.query.Match(&w.line) {
				if n--; n == 0 {
					return from + int64(line), nil
				}
			}
			at = line
		}
		end = from + int64(start)
	}
	return 0, nil
}

// reorderWindow is the time for which lines of several live sources are
// collected, to be merged by time.
const reorderWindow = 100 * time.Millisecond

// Follow writes the selected lines of sources that may never end, as they
// arrive. Lines of several sources that arrive within a tenth of a second are
// merged by time.
func Follow(
	ctx context.Context, w io.Writer, sources []Source, s Selection, newRenderer func() Renderer,
) (Counts, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &tailing{
		w: w, renderer: newRenderer(), context: contextLines{size: s.Context},
		blocks: make(chan *liveBlock, len(sources)), selection: &s,
	}
	f.line.SetZone(s.Zone)
	f.line.Own = s.Keys
	for _, source := range sources {
		f.start(ctx, source)
	}
	return f.run(ctx)
}

// A liveBlock is the result of one read.
type liveBlock struct {
	block
	source int
	end    bool
}

// A tailing is a call of Follow.
type tailing struct {
	w         io.Writer
	selection *Selection
	renderer  Renderer
	context   contextLines
	line      logread.Line
	keys      []int64 // the last time of each source
	blocks    chan *liveBlock
	open      int // number of sources that have not ended
	waiting   []*liveBlock
	counts    Counts
	errs      []error
}

// start begins to read a source.
func (f *tailing) start(ctx context.Context, s Source) {
	f.keys = append(f.keys, noTime)
	f.open++
	go f.read(ctx, s, len(f.keys)-1, f.selection.newWorker(nil, f.selection.Context > 0))
}

// startMore begins to read the sources that have come.
func (f *tailing) startMore(ctx context.Context) {
	for _, s := range f.selection.More() {
		f.start(ctx, s)
	}
}

// isSingle reports whether there has been one source only, whose lines need not
// be merged.
func (f *tailing) isSingle() bool { return len(f.keys) == 1 }

// read sends the blocks of a source.
func (f *tailing) read(ctx context.Context, s Source, index int, w *worker) {
	send := func(b *liveBlock) bool {
		b.source = index
		select {
		case f.blocks <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	r, err := s.Open(ctx)
	if err != nil {
		send(&liveBlock{block: block{err: err}, end: true})
		return
	}
	defer r.Close() // only read
	var rest []byte
	for {
		b := &liveBlock{block: block{buf: make([]byte, max(leastBlock, 2*len(rest)))}}
		b.data, rest, err = logread.ReadBlock(r, b.buf, rest)
		w.process(&b.block)
		if b.end = err != nil; err != io.EOF {
			b.err = err
		}
		if !send(b) || b.end {
			return
		}
	}
}

func (f *tailing) run(ctx context.Context) (Counts, error) {
	var window, look <-chan time.Time
	var created <-chan struct{}
	if f.selection.More != nil {
		look, created = time.Tick(morePolls*f.selection.poll()), f.selection.events.Created()
	}
	for f.open > 0 || look != nil {
		select {
		case <-ctx.Done():
			return f.counts, errors.Join(f.flush(), ctx.Err())
		case <-window:
			if err := f.flush(); err != nil {
				return f.counts, err
			}
		case <-look:
			f.startMore(ctx)
		case <-created:
			f.startMore(ctx)
		case b := <-f.blocks:
			f.counts.add(b.counts)
			if b.end {
				f.open--
				f.errs = append(f.errs, b.err)
			}
			if len(f.waiting) == 0 && !f.isSingle() {
				window = time.After(reorderWindow)
			}
			if f.waiting = append(f.waiting, b); f.isSingle() {
				if err := f.flush(); err != nil {
					return f.counts, err
				}
			}
		}
	}
	return f.counts, errors.Join(append(f.errs, f.flush())...)
}

// flush writes the lines that are waiting. It keeps the order of each source.
func (f *tailing) flush() error {
	type entry struct {
		key     int64
		line    []byte
		matched bool
	}
	var entries []entry
	for _, b := range f.waiting {
		key := &f.keys[b.source]
		for _, s := range b.spans {
			if s.time != noTime && s.time < *key && !f.isSingle() {
				f.counts.Late++
			}
			*key = max(*key, s.time)
			entries = append(entries, entry{*key, b.data[s.from:s.end], s.matched})
		}
	}
	f.waiting = f.waiting[:0]
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	var out []byte
	for _, e := range entries {
		out = f.context.append(out, f.renderer, &f.line, e.line, e.matched)
	}
	if len(out) == 0 {
		return nil
	}
	_, err := f.w.Write(out)
	return err
}
