// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"debug/elf"
	"fmt"
	"io"
)

// readELF reads the executables of Linux and the BSDs.
func readELF(r io.ReaderAt) (*image, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	im := &image{order: f.ByteOrder, anchors: map[string]uint64{}}
	switch f.Machine {
	case elf.EM_X86_64:
		im.arch, im.ptrSize = x86{bits: 64}, 8
	case elf.EM_386:
		im.arch, im.ptrSize = x86{bits: 32}, 4
	case elf.EM_AARCH64:
		im.arch, im.ptrSize = arm64{}, 8
	default:
		return nil, fmt.Errorf("no decoder for %v", f.Machine)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		seg := segment{s.Addr, b}
		if s.Name == ".text" {
			im.text = seg
		}
		im.data = append(im.data, seg)
	}
	syms, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSymbols, err)
	}
	for _, s := range syms {
		if im.anchor(s.Name, s.Value) {
			continue
		}
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Value+s.Size > s.Value {
			im.symbols = append(im.symbols, symbol{s.Name, s.Value, s.Value + s.Size})
		}
	}
	return im, nil
}
