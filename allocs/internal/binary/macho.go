// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"debug/macho"
	"fmt"
	"io"
)

// Constants of the format that debug/macho lacks.
const (
	machSectionType  = 0xFF // the type, within a section's flags
	machZeroFill     = 1    // a section without bytes in the file
	machDebugSymbol  = 0xE0 // bits of a symbol's type that only debuggers use
	machTypeMask     = 0x0E
	machInSection    = 0x0E
	machDebugSegment = "__DWARF"
)

// readMachO reads the executables of macOS and iOS.
func readMachO(r io.ReaderAt) (*image, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	im := &image{order: f.ByteOrder, ptrSize: 8, anchors: map[string]uint64{}}
	switch f.Cpu {
	case macho.CpuAmd64:
		im.arch = x86{bits: 64}
	case macho.CpuArm64:
		im.arch = arm64{}
	default:
		return nil, fmt.Errorf("no decoder for %v", f.Cpu)
	}
	text := 0 // number of the section, counted from 1
	for i, s := range f.Sections {
		if s.Flags&machSectionType == machZeroFill || s.Seg == machDebugSegment {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		seg := segment{s.Addr, b}
		if s.Seg == "__TEXT" && s.Name == "__text" {
			im.text, text = seg, i+1
		}
		im.data = append(im.data, seg)
	}
	if f.Symtab == nil {
		return nil, errNoSymbols
	}
	for _, s := range f.Symtab.Syms {
		if s.Type&machDebugSymbol != 0 || s.Type&machTypeMask != machInSection || im.anchor(s.Name, s.Value) {
			continue
		}
		if int(s.Sect) == text && s.Name != "runtime.etext" {
			im.symbols = append(im.symbols, symbol{name: s.Name, addr: s.Value})
		}
	}
	im.close()
	return im, nil
}
