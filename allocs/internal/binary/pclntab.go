// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// lineTable reads the runtime's own table of functions, lines and inlined
// calls. It has the layout that Go 1.20 introduced; debug/gosym reads the same
// table, but not the inlined calls.
type lineTable struct {
	im        *image
	main      string // import path of package main; "" leaves its functions as they are
	quantum   uint64
	text      uint64
	funcs     uint64 // address to which funcdata offsets are relative
	names     []byte
	cus       []byte
	files     []byte
	values    []byte
	index     []byte
	functions int
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

func newLineTable(im *image, main string) (*lineTable, error) {
	b := im.at(im.anchors[anchorPclntab])
	if len(b) < 9*8 {
		return nil, errLayout
	}
	if magic := u32(b); magic != 0xFFFFFFF1 && magic != 0xFFFFFFF0 {
		return nil, fmt.Errorf("%w: magic %#x", errLayout, magic)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8+8*i:]) }
	return &lineTable{
		im: im, main: main, quantum: uint64(b[6]),
		text: im.anchors[anchorText], funcs: im.anchors[anchorFuncs],
		names: b[word(3):], cus: b[word(4):], files: b[word(5):], values: b[word(6):],
		index:     b[word(7):],
		functions: int(word(0)),
	}, nil
}

var u32 = binary.LittleEndian.Uint32

// function is a function of the executable.
type function struct {
	name       string
	entry, end uint64
	record     []byte // its fixed fields
}

// all returns all functions, by their addresses. The space after one is filled
// with instructions that nothing jumps to.
func (t *lineTable) all() []function {
	out := make([]function, t.functions)
	for i := range out {
		f := &out[i]
		f.entry, f.end = t.text+uint64(u32(t.index[8*i:])), t.text+uint64(u32(t.index[8*i+8:]))
		f.record = t.index[u32(t.index[8*i+4:]):]
		f.name = t.named(u32(f.record[4*fieldName:]))
	}
	return out
}

// record is one function's entry: the fixed fields at fn, its entry address,
// and its tables once they are needed.
type record struct {
	fn     []byte
	entry  uint64
	tables map[uint32][]until
	tree   []byte // its inlined calls
}

// until is a step of a table: the value up to an address.
type until struct {
	end uint64
	val int32
}

// field reads the i-th 32-bit word of the entry.
func (t *lineTable) field(r *record, i int) uint32 { return u32(r.fn[4*i:]) }

// The words of an entry.
const (
	fieldName    = 1
	fieldFile    = 5
	fieldLine    = 6
	fieldPcdatas = 7
	fieldUnit    = 8
	fieldKinds   = 10 // funcID, flag, pad, number of funcdata
	fieldTables  = 11
)

// stack returns the functions that are active at pc, the innermost first: the
// inlined ones, and last the function that contains the code.
func (t *lineTable) stack(r *record, pc uint64) []Frame {
	var frames []Frame
	for at := pc; ; {
		frame := Frame{File: t.file(r, at), Line: int(t.value(r, t.field(r, fieldLine), at))}
		ix := int32(-1)
		if r.tree != nil {
			ix = t.value(r, t.field(r, fieldTables+pcdataInline), at)
		}
		if ix < 0 {
			frame.Func = t.named(t.field(r, fieldName))
			return append(frames, frame)
		}
		call := r.tree[16*int64(ix):]
		frame.Func, frame.Inlined = t.named(u32(call[4:])), true
		frames = append(frames, frame)
		at = r.entry + uint64(u32(call[8:]))
	}
}

// named returns the name of a function at an offset in the table of names. A
// function of package main has the name that it has in test binaries, which is
// unique among all programs.
func (t *lineTable) named(at uint32) string {
	name := text(t.names[at:])
	if rest, ok := strings.CutPrefix(name, "main."); ok && t.main != "" {
		return t.main + "." + rest
	}
	return name
}

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
	return t.im.at(t.funcs + uint64(off))
}

// file returns the name of the source file at pc.
func (t *lineTable) file(r *record, pc uint64) string {
	no := t.value(r, t.field(r, fieldFile), pc)
	if no < 0 {
		return ""
	}
	off := u32(t.cus[4*(uint64(t.field(r, fieldUnit))+uint64(no)):])
	if off == noFuncdata {
		return ""
	}
	return text(t.files[off:])
}

// value returns the value of a table at pc, or -1 if there is none, as in the
// tables themselves.
func (t *lineTable) value(r *record, off uint32, pc uint64) int32 {
	if off == 0 {
		return -1
	}
	table, ok := r.tables[off]
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

// text returns the text that ends with a zero.
func text(b []byte) string { return string(b[:bytes.IndexByte(b, 0)]) }
