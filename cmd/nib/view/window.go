// SPDX-License-Identifier: Apache-2.0

package view

import (
	"math"
	"sort"
	"time"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/internal/logread"
)

// A window is a range of time that a page shows, with the parts of the document
// that may have its lines. The rest is not read.
type window struct {
	from, to int64 // Unix nanoseconds: [from, to)
	// Parts that may have lines of the window, from the index of the file.
	parts []lineindex.Range
	all   *index // index of all lines, nil if there is none
}

// window returns the window of a selection, or nil.
func (c selection) window(all *held) *window {
	if c.from == 0 && c.to == 0 {
		return nil
	}
	const most = math.MaxInt64 / int64(time.Millisecond)
	w := &window{from: min(c.from, most) * int64(time.Millisecond),
		to: min(c.to, most) * int64(time.Millisecond)}
	if all != nil {
		w.all = all.index
	}
	return w
}

// find reads the index of the file that the document was opened with.
func (w *window) find(doc *document) {
	if doc.keys != (logread.Keys{}) {
		return // indexes have the times of the known keys
	}
	doc.mu.Lock()
	f := doc.parts[0].file
	doc.mu.Unlock()
	if x := lineindex.Find(lineindex.DefaultDir(), f); x != nil {
		w.parts, _ = x.Ranges(
			lineindex.Window{Since: time.Unix(0, w.from), Until: time.Unix(0, w.to)})
	}
}

// partOf returns the part that contains the byte before at, or the last part
// before it. Without an index the document is one part.
func (w *window) partOf(at int64) lineindex.Range {
	if w == nil || w.parts == nil {
		return lineindex.Range{To: math.MaxInt64}
	}
	i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].From >= at })
	if i == 0 {
		return lineindex.Range{}
	}
	return w.parts[i-1]
}

// behind returns the end of the last part before at that may have lines of the
// window.
func (w *window) behind(at int64) int64 {
	for w != nil && at > 0 {
		end := min(at, w.partOf(at).To)
		if w.all != nil && end > 0 {
			end = w.all.behind(w, end)
		}
		if end == at {
			break
		}
		at = end
	}
	return at
}

// behind is like window.behind, for the blocks of this index.
func (x *index) behind(w *window, at int64) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := sort.Search(len(x.back), func(i int) bool { return x.back[i].start < at })
	for ; i < len(x.back) && at <= x.back[i].end &&
		(x.back[i].last < w.from || x.back[i].first >= w.to); i++ {
		at = x.back[i].start
	}
	return at
}
