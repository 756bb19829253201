// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// lineTable reads the runtime's own table of functions, lines and inlined
// calls. It has the layout that Go 1.20 introduced; debug/gosym reads the same
// table but leaves the inlined calls out.
type lineTable struct {
	im        *image
	quantum   uint64
	text      uint64
	funcs     uint64 // address that funcdata offsets count from
	names     []byte
	cus       []byte
	files     []byte
	values    []byte
	index     []byte
	functions int
}

// Places in the tables of a function, from internal/abi.
const (
	pcdataInline   = 2
	funcdataInline = 3
	noFuncdata     = ^uint32(0)
)

// Frame is one function on an inline stack.
type Frame struct {
	Func string // as the runtime prints it: type arguments are "[...]"
	File string // absolute, as the compiler was given it
	Line int
}

var errLayout = errors.New("the line table does not have the layout of Go 1.20 to 1.27")

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
	return &lineTable{
		im: im, quantum: uint64(b[6]), text: im.anchors[anchorText], funcs: im.anchors[anchorFuncs],
		functions: int(word(0)),
		names:     b[word(3):], cus: b[word(4):], files: b[word(5):], values: b[word(6):], index: b[word(7):],
	}, nil
}

// record is one function's entry: the fixed fields at fn, its entry address.
type record struct {
	fn    []byte
	entry uint64
}

// find returns the entry of the function that holds pc.
func (t *lineTable) find(pc uint64) (record, bool) {
	if pc < t.text {
		return record{}, false
	}
	off := uint32(pc - t.text)
	u32 := t.im.order.Uint32
	i := sort.Search(t.functions, func(i int) bool { return u32(t.index[8*i:]) > off }) - 1
	if i < 0 {
		return record{}, false
	}
	return record{t.index[u32(t.index[8*i+4:]):], t.text + uint64(u32(t.index[8*i:]))}, true
}

// field reads the i-th 32-bit word of the entry.
func (t *lineTable) field(r record, i int) uint32 { return t.im.order.Uint32(r.fn[4*i:]) }

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

// stack returns the functions that are active at pc by inlining, the innermost
// first. The last one is the function whose code it is.
func (t *lineTable) stack(pc uint64) []Frame {
	r, ok := t.find(pc)
	if !ok {
		return nil
	}
	var frames []Frame
	tree := t.inlineTree(r)
	for at := pc; len(frames) < 64; {
		frame := Frame{File: t.file(r, at), Line: int(t.value(r, t.field(r, fieldLine), at))}
		ix := int32(-1)
		if tree != nil {
			ix = t.value(r, t.field(r, fieldTables+pcdataInline), at)
		}
		if ix < 0 || (int(ix)+1)*16 > len(tree) {
			frame.Func = t.string(t.names, t.field(r, fieldName))
			return append(frames, frame)
		}
		call := tree[16*ix:]
		frame.Func = t.string(t.names, t.im.order.Uint32(call[4:]))
		frames = append(frames, frame)
		at = r.entry + uint64(t.im.order.Uint32(call[8:]))
	}
	return frames
}

// inlineTree returns the function's calls that were inlined, 16 bytes each, or
// nil.
func (t *lineTable) inlineTree(r record) []byte {
	pcdatas := t.field(r, fieldPcdatas)
	if pcdatas <= pcdataInline || r.fn[4*fieldKinds+3] <= funcdataInline {
		return nil
	}
	off := t.field(r, fieldTables+int(pcdatas)+funcdataInline)
	if off == noFuncdata {
		return nil
	}
	return t.im.at(t.funcs + uint64(off))
}

// file returns the name of the source file at pc.
func (t *lineTable) file(r record, pc uint64) string {
	no := t.value(r, t.field(r, fieldFile), pc)
	if no < 0 {
		return ""
	}
	off := t.im.order.Uint32(t.cus[4*(t.field(r, fieldUnit)+uint32(no)):])
	if off == noFuncdata {
		return ""
	}
	return t.string(t.files, off)
}

// value walks a table of (value, code length) steps to the step that holds pc.
// It returns -1 when there is none, which is also what the tables mean by it.
func (t *lineTable) value(r record, off uint32, pc uint64) int32 {
	if off == 0 {
		return -1
	}
	b, val, at := t.values[off:], int32(-1), r.entry
	for first := true; len(b) > 0; first = false {
		step, n := binary.Uvarint(b)
		if n <= 0 || step == 0 && !first {
			return -1
		}
		val += int32(step>>1) ^ -int32(step&1)
		b = b[n:]
		length, n := binary.Uvarint(b)
		if n <= 0 {
			return -1
		}
		b = b[n:]
		at += length * t.quantum
		if pc < at {
			return val
		}
	}
	return -1
}

func (t *lineTable) string(b []byte, off uint32) string {
	b = b[off:]
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return ""
}
