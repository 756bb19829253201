// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// image is an executable without its file format: code, the line table, and
// the symbols that name and anchor them.
type image struct {
	arch    arch
	order   binary.ByteOrder
	ptrSize int
	text    segment
	data    []segment // every loaded part, for tables that move between releases
	symbols []symbol  // functions, sorted by address
	anchors map[string]uint64
}

// segment is a part of the file with the address it is loaded at.
type segment struct {
	addr  uint64
	bytes []byte
}

// symbol is a function's name in the linker's spelling, with its shape-typed
// type arguments.
type symbol struct {
	name string
	addr uint64
	end  uint64
}

// The linker's own symbols that the tables are found by.
const (
	anchorText    = "runtime.text"
	anchorPclntab = "runtime.pclntab"
	anchorFuncs   = "go:func.*"
)

// errNoSymbols says that the executable was linked with -s or -w.
var errNoSymbols = errors.New("no symbol table: the executable is stripped")

// openELF reads an ELF executable into memory.
func openELF(path string) (*image, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	im := &image{order: f.ByteOrder, anchors: map[string]uint64{}}
	switch f.Machine {
	case elf.EM_X86_64:
		im.arch, im.ptrSize = x86{bits: 64}, 8
	case elf.EM_386:
		im.arch, im.ptrSize = x86{bits: 32}, 4
	case elf.EM_AARCH64:
		im.arch, im.ptrSize = arm64{}, 8
	default:
		return nil, fmt.Errorf("%s: no decoder for %v", path, f.Machine)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("%s: section %s: %w", path, s.Name, err)
		}
		seg := segment{s.Addr, b}
		if s.Name == ".text" {
			im.text = seg
		}
		im.data = append(im.data, seg)
	}
	syms, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errNoSymbols)
	}
	for _, s := range syms {
		switch {
		case s.Name == anchorText || s.Name == anchorPclntab || s.Name == anchorFuncs:
			im.anchors[s.Name] = s.Value
		case elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0:
			im.symbols = append(im.symbols, symbol{s.Name, s.Value, s.Value + s.Size})
		}
	}
	sort.Slice(im.symbols, func(i, j int) bool { return im.symbols[i].addr < im.symbols[j].addr })
	return im, im.check(path)
}

// check tells what is missing, so that a walk never starts on half an image
// and finds nothing in it.
func (im *image) check(path string) error {
	if len(im.symbols) == 0 {
		return fmt.Errorf("%s: %w", path, errNoSymbols)
	}
	for _, name := range []string{anchorText, anchorPclntab, anchorFuncs} {
		if im.anchors[name] == 0 {
			return fmt.Errorf("%s: the linker's symbol %s is not there: the layout of this Go release is not known", path, name)
		}
	}
	return nil
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
