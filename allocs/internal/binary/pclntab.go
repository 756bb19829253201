// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync/atomic"
)

// lineTable reads the runtime's own table of functions, lines and inlined
// calls. It has the layout that Go 1.20 introduced; debug/gosym reads the same
// table, but not the inlined calls.
type lineTable struct {
	im        *image
	quantum   uint64
	text      uint64
	funcs     uint64 // address to which funcdata offsets are relative
	names     []byte
	cus       []byte
	files     []byte
	values    []byte
	index     []byte
	functions int

	damage atomic.Pointer[error]
}

// Indexes into the tables of a function, from internal/abi.
const (
	pcdataInline   = 2
	funcdataInline = 3
	noFuncdata     = ^uint32(0)
)

// Frame is one function on an inline stack.
type Frame struct {
	Func string // name as the runtime prints it: type arguments are "[...]"
	File string // absolute path, as passed to the compiler
	Line int
	// Inlined is set if the function is inlined into the next frame of the stack.
	Inlined bool `json:",omitempty"`
}

var errLayout = errors.New("the line table does not have the layout of Go 1.20 to 1.27")

// ErrDamaged means that a table points outside of the file.
var ErrDamaged = errors.New("the executable is damaged")

func newLineTable(im *image) (*lineTable, error) {
	b := im.at(im.anchors[anchorPclntab])
	if len(b) < 8+8*im.ptrSize {
		return nil, errLayout
	}
	if magic := im.order.Uint32(b); magic != 0xFFFFFFF1 && magic != 0xFFFFFFF0 {
		return nil, fmt.Errorf("%w: magic %#x", errLayout, magic)
	}
	word := func(i int) uint64 {
		if im.ptrSize == 4 {
			return uint64(im.order.Uint32(b[8+4*i:]))
		}
		return im.order.Uint64(b[8+8*i:])
	}
	for i := 3; i <= 7; i++ {
		if word(i) >= uint64(len(b)) {
			return nil, errLayout
		}
	}
	t := &lineTable{
		im: im, quantum: uint64(b[6]), text: im.anchors[anchorText], funcs: im.anchors[anchorFuncs],
		names: b[word(3):], cus: b[word(4):], files: b[word(5):], values: b[word(6):], index: b[word(7):],
	}
	if word(0) > uint64(len(t.index)/8) {
		return nil, errLayout
	}
	t.functions = int(word(0))
	return t, t.check()
}

// check examines the entries of all functions, so that damage is an error
// before any lookup.
func (t *lineTable) check() error {
	u32 := t.im.order.Uint32
	for i := range t.functions {
		entry, at := u32(t.index[8*i:]), uint64(u32(t.index[8*i+4:]))
		if at+4*fieldTables > uint64(len(t.index)) || i > 0 && entry < u32(t.index[8*i-8:]) {
			return fmt.Errorf("%w: function %d of the line table", ErrDamaged, i)
		}
		if name := u32(t.index[at+4*fieldName:]); uint64(name) >= uint64(len(t.names)) {
			return fmt.Errorf("%w: name of function %d of the line table", ErrDamaged, i)
		}
	}
	return nil
}

// broken records the first damage that is found after Open.
func (t *lineTable) broken(what string, r *record) {
	err := fmt.Errorf("%w: %s of the function at %#x", ErrDamaged, what, r.entry)
	t.damage.CompareAndSwap(nil, &err)
}

// record is one function's entry: the fixed fields at fn, its entry address,
// and its tables once they are needed.
type record struct {
	fn     []byte
	entry  uint64
	tables map[uint32][]until
	tree   []byte
	hasIt  bool // tree was read
}

// until is a step of a table: the value up to an address.
type until struct {
	end uint64
	val int32
}

// find returns the entry of the function that holds pc.
func (t *lineTable) find(pc uint64) *record {
	if pc < t.text {
		return nil
	}
	off := uint32(pc - t.text)
	u32 := t.im.order.Uint32
	i := sort.Search(t.functions, func(i int) bool { return u32(t.index[8*i:]) > off }) - 1
	if i < 0 {
		return nil
	}
	return &record{fn: t.index[u32(t.index[8*i+4:]):], entry: t.text + uint64(u32(t.index[8*i:])), tables: map[uint32][]until{}}
}

// field reads the i-th 32-bit word of the entry; noFuncdata if the entry is
// shorter.
func (t *lineTable) field(r *record, i int) uint32 {
	if 4*i+4 > len(r.fn) {
		t.broken("the entry", r)
		return noFuncdata
	}
	return t.im.order.Uint32(r.fn[4*i:])
}

// The words of an entry.
const (
	fieldName    = 1
	fieldFile    = 5
	fieldLine    = 6
	fieldPcdatas = 7
	fieldUnit    = 8
	fieldStart   = 9
	fieldKinds   = 10 // funcID, flag, pad, number of funcdata
	fieldTables  = 11
)

// stack returns the functions that are active at pc, the innermost first: the
// inlined ones, and last the function that contains the code.
func (t *lineTable) stack(r *record, pc uint64) []Frame {
	var frames []Frame
	if !r.hasIt {
		r.tree, r.hasIt = t.inlineTree(r), true
	}
	tree := r.tree
	for at := pc; len(frames) < deepest; {
		frame := Frame{File: t.file(r, at), Line: int(t.value(r, t.field(r, fieldLine), at))}
		ix := int32(-1)
		if tree != nil {
			ix = t.value(r, t.field(r, fieldTables+pcdataInline), at)
		}
		if ix < 0 {
			frame.Func = t.named(t.field(r, fieldName), r)
			return append(frames, frame)
		}
		if (int64(ix)+1)*16 > int64(len(tree)) {
			break
		}
		call := tree[16*int64(ix):]
		frame.Func, frame.Inlined = t.named(t.im.order.Uint32(call[4:]), r), true
		frames = append(frames, frame)
		at = r.entry + uint64(t.im.order.Uint32(call[8:]))
	}
	t.broken("the inlined calls", r)
	return append(frames, Frame{Func: t.named(t.field(r, fieldName), r)})
}

// named returns the name of a function at an offset in the table of names.
func (t *lineTable) named(at uint32, r *record) string { return t.im.renamed(t.string(t.names, at, r)) }

// deepest is the maximum number of calls inlined into each other: the compiler
// stops long before.
const deepest = 256

// inlineTree returns the function's calls that were inlined, 16 bytes each, or
// nil.
func (t *lineTable) inlineTree(r *record) []byte {
	pcdatas := t.field(r, fieldPcdatas)
	if pcdatas <= pcdataInline || r.fn[4*fieldKinds+3] <= funcdataInline {
		return nil
	}
	off := t.field(r, fieldTables+int(pcdatas)+funcdataInline)
	if off == noFuncdata {
		return nil
	}
	tree := t.im.at(t.funcs + uint64(off))
	if tree == nil {
		t.broken("the inlined calls", r)
	}
	return tree
}

// file returns the name of the source file at pc.
func (t *lineTable) file(r *record, pc uint64) string {
	no := t.value(r, t.field(r, fieldFile), pc)
	if no < 0 {
		return ""
	}
	at := 4 * (uint64(t.field(r, fieldUnit)) + uint64(no))
	if at+4 > uint64(len(t.cus)) {
		t.broken("the files", r)
		return ""
	}
	off := t.im.order.Uint32(t.cus[at:])
	if off == noFuncdata {
		return ""
	}
	return t.string(t.files, off, r)
}

// value returns the value of a table at pc, or -1 if there is none, as in the
// tables themselves.
func (t *lineTable) value(r *record, off uint32, pc uint64) int32 {
	if off == 0 {
		return -1
	}
	table, ok := r.tables[off]
	if !ok && uint64(off) >= uint64(len(t.values)) {
		t.broken("a table", r)
		return -1
	}
	if !ok {
		table = t.steps(r, off)
		r.tables[off] = table
	}
	i := sort.Search(len(table), func(i int) bool { return table[i].end > pc })
	if i == len(table) {
		return -1
	}
	return table[i].val
}

// steps reads a whole table of (value, code length) pairs.
func (t *lineTable) steps(r *record, off uint32) []until {
	var out []until
	b, val, at := t.values[off:], int32(-1), r.entry
	for first := true; len(b) > 0; first = false {
		step, n := binary.Uvarint(b)
		if n <= 0 || step == 0 && !first {
			break
		}
		val += int32(step>>1) ^ -int32(step&1)
		b = b[n:]
		length, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		b = b[n:]
		at += length * t.quantum
		out = append(out, until{at, val})
	}
	return out
}

// string returns the text at off, which ends with a zero.
func (t *lineTable) string(b []byte, off uint32, r *record) string {
	if uint64(off) < uint64(len(b)) {
		b = b[off:]
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(b[:i])
		}
	}
	t.broken("a name", r)
	return ""
}
