// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// image is an executable without its file format: code, the line table, and
// the symbols that name and anchor them. Each format has one file that makes
// it: elf.go, macho.go, pe.go.
type image struct {
	arch    arch
	order   binary.ByteOrder
	ptrSize int
	text    segment
	data    []segment // every loaded part, for tables that move between releases
	symbols []symbol  // functions, sorted by address
	anchors map[string]uint64
	main    string // import path of the main package; "" leaves its functions as they are
}

// segment is a part of the file and the address at which it is loaded.
type segment struct {
	addr  uint64
	bytes []byte
}

// symbol is a function's name in the linker's spelling, with its shape-typed
// type arguments.
type symbol struct {
	name string
	addr uint64
	end  uint64 // not below addr
}

// The linker's symbols for the tables. They have these names in all formats.
const (
	anchorText    = "runtime.text"
	anchorPclntab = "runtime.pclntab"
	anchorFuncs   = "go:func.*"
)

// errNoSymbols indicates that the executable was linked with -s or -w.
var errNoSymbols = errors.New("no symbol table: the executable is stripped")

// errFormat indicates that the format of a file is not supported.
var errFormat = errors.New("neither an ELF, nor a Mach-O, nor a PE executable")

// formats are the readers, by the first bytes of their files.
var formats = []struct {
	magic string
	read  func(r io.ReaderAt) (*image, error)
}{
	{"\x7fELF", readELF},
	{"\xcf\xfa\xed\xfe", readMachO}, // 64 bits, little-endian: the only form that Go writes
	{"MZ", readPE},
}

// newImage reads an executable into memory.
func newImage(r io.ReaderAt) (*image, error) {
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errFormat
	}
	for _, f := range formats {
		if !bytes.HasPrefix(head, []byte(f.magic)) {
			continue
		}
		im, err := f.read(r)
		if err != nil {
			return nil, err
		}
		sort.SliceStable(im.symbols, func(i, j int) bool { return im.symbols[i].addr < im.symbols[j].addr })
		return im, im.check()
	}
	return nil, errFormat
}

// renamed returns the name that a function of the main package has in test
// binaries, which is unique among all programs.
func (im *image) renamed(name string) string {
	if rest, ok := strings.CutPrefix(name, "main."); ok && im.main != "" {
		return im.main + "." + rest
	}
	return name
}

// check returns an error if something is missing, so that a walk over an
// incomplete image does not seem clean.
func (im *image) check() error {
	if len(im.symbols) == 0 {
		return errNoSymbols
	}
	if len(im.text.bytes) == 0 {
		return errors.New("no section with the code")
	}
	for _, name := range []string{anchorText, anchorPclntab, anchorFuncs} {
		if im.anchors[name] == 0 {
			return fmt.Errorf("the linker's symbol %s is not there: the layout of this Go release is not known", name)
		}
	}
	return nil
}

// anchor stores the address of a symbol that locates tables.
func (im *image) anchor(name string, addr uint64) bool {
	switch name {
	case anchorText, anchorPclntab, anchorFuncs:
		im.anchors[name] = addr
		return true
	}
	return false
}

// close gives the functions of a format that does not store their sizes an end:
// where the next one starts. The space between is filled with instructions that
// nothing jumps to.
func (im *image) close() {
	sort.SliceStable(im.symbols, func(i, j int) bool { return im.symbols[i].addr < im.symbols[j].addr })
	end := im.text.addr + uint64(len(im.text.bytes))
	for i := len(im.symbols) - 1; i >= 0; i-- {
		s := &im.symbols[i]
		s.end = max(s.addr, end)
		if i > 0 && im.symbols[i-1].addr != s.addr {
			end = s.addr
		}
	}
}

// code returns the bytes of a function, or nil when it is not in the text
// section: not Go code.
func (im *image) code(s symbol) []byte {
	size := uint64(len(im.text.bytes))
	if s.addr < im.text.addr || s.end < s.addr || s.addr-im.text.addr > size || s.end-im.text.addr > size {
		return nil
	}
	return im.text.bytes[s.addr-im.text.addr : s.end-im.text.addr]
}

// at returns the bytes that are loaded at addr, to the end of their section,
// or nil.
func (im *image) at(addr uint64) []byte {
	for _, s := range im.data {
		if addr >= s.addr && addr-s.addr < uint64(len(s.bytes)) {
			return s.bytes[addr-s.addr:]
		}
	}
	return nil
}

// named returns the function that holds addr.
func (im *image) named(addr uint64) (symbol, bool) {
	i := sort.Search(len(im.symbols), func(i int) bool { return im.symbols[i].addr > addr }) - 1
	if i < 0 || addr >= im.symbols[i].end {
		return symbol{}, false
	}
	return im.symbols[i], true
}
