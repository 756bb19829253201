// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
)

// image is an executable without its file format: what is loaded, and the
// addresses that the linker's symbols give to the tables.
type image struct {
	arch    arch
	data    []segment // every loaded part, for tables that move between releases
	anchors map[string]uint64
}

// segment is a part of the file and the address at which it is loaded.
type segment struct {
	addr  uint64
	bytes []byte
}

// The linker's symbols for the tables. They have these names in all formats.
const (
	anchorText    = "runtime.text"
	anchorPclntab = "runtime.pclntab"
	anchorFuncs   = "go:func.*"
)

// errFormat indicates that the format of a file is not supported.
var errFormat = errors.New("neither an ELF, nor a Mach-O, nor a PE executable for amd64 or arm64")

// newImage reads an executable into memory. It fails if something is missing,
// so that a walk over an incomplete image does not seem clean.
func newImage(r io.ReaderAt) (*image, error) {
	im := &image{anchors: map[string]uint64{}}
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errFormat
	}
	read := im.readPE
	switch {
	case string(head) == elf.ELFMAG:
		read = im.readELF
	case string(head) == "\xcf\xfa\xed\xfe": // 64 bits, little-endian: what Go writes
		read = im.readMachO
	case !bytes.HasPrefix(head, []byte("MZ")):
		return nil, errFormat
	}
	if err := read(r); err != nil {
		return nil, err
	}
	for _, name := range []string{anchorText, anchorPclntab, anchorFuncs} {
		if im.anchors[name] == 0 {
			return nil, fmt.Errorf("the linker's symbol %s is not there: "+
				"the executable is stripped, or the layout of this Go release is not known", name)
		}
	}
	return im, nil
}

// anchor stores the address of a symbol that locates tables.
func (im *image) anchor(name string, addr uint64) {
	switch name {
	case anchorText, anchorPclntab, anchorFuncs:
		im.anchors[name] = addr
	}
}

// load adds a section.
func (im *image) load(name string, addr uint64, data func() ([]byte, error)) error {
	b, err := data()
	if err != nil {
		return fmt.Errorf("section %s: %w", name, err)
	}
	im.data = append(im.data, segment{addr, b})
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

// readELF reads the executables of Linux and the BSDs.
func (im *image) readELF(r io.ReaderAt) error {
	f, err := elf.NewFile(r)
	if err != nil {
		return err
	}
	im.arch = map[elf.Machine]arch{elf.EM_X86_64: x86, elf.EM_AARCH64: arm64}[f.Machine]
	if im.arch == nil {
		return fmt.Errorf("%w: %v", errFormat, f.Machine)
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_ALLOC != 0 {
			if err := im.load(s.Name, s.Addr, s.Data); err != nil {
				return err
			}
		}
	}
	symbols, err := f.Symbols()
	for _, s := range symbols {
		im.anchor(s.Name, s.Value)
	}
	return err
}

// readMachO reads the executables of macOS.
func (im *image) readMachO(r io.ReaderAt) error {
	f, err := macho.NewFile(r)
	if err != nil {
		return err
	}
	im.arch = map[macho.Cpu]arch{macho.CpuAmd64: x86, macho.CpuArm64: arm64}[f.Cpu]
	if im.arch == nil {
		return fmt.Errorf("%w: %v", errFormat, f.Cpu)
	}
	for _, s := range f.Sections {
		const kind, zeroFilled = 0xFF, 1 // a section without bytes in the file
		if s.Flags&kind != zeroFilled && s.Seg != "__DWARF" {
			if err := im.load(s.Name, s.Addr, s.Data); err != nil {
				return err
			}
		}
	}
	if f.Symtab != nil {
		for _, s := range f.Symtab.Syms {
			im.anchor(s.Name, s.Value)
		}
	}
	return nil
}

// readPE reads the executables of Windows.
func (im *image) readPE(r io.ReaderAt) error {
	f, err := pe.NewFile(r)
	if err != nil {
		return err
	}
	im.arch = map[uint16]arch{
		pe.IMAGE_FILE_MACHINE_AMD64: x86, pe.IMAGE_FILE_MACHINE_ARM64: arm64,
	}[f.Machine]
	header, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if im.arch == nil || !ok {
		return fmt.Errorf("%w: machine %#x", errFormat, f.Machine)
	}
	for _, s := range f.Sections {
		const loaded = pe.IMAGE_SCN_CNT_CODE | pe.IMAGE_SCN_CNT_INITIALIZED_DATA
		if s.Characteristics&loaded != 0 && s.Characteristics&pe.IMAGE_SCN_MEM_DISCARDABLE == 0 {
			at := header.ImageBase + uint64(s.VirtualAddress)
			if err := im.load(s.Name, at, s.Data); err != nil {
				return err
			}
		}
	}
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n >= 1 && n <= len(f.Sections) {
			at := header.ImageBase + uint64(f.Sections[n-1].VirtualAddress)
			im.anchor(s.Name, at+uint64(s.Value))
		}
	}
	return nil
}
