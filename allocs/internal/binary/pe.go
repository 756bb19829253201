// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"debug/pe"
	"encoding/binary"
	"fmt"
	"io"
)

// readPE reads the executables of Windows.
func readPE(r io.ReaderAt) (*image, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	im := &image{order: binary.LittleEndian, ptrSize: 8, anchors: map[string]uint64{}}
	switch f.Machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		im.arch = x86{bits: 64}
	case pe.IMAGE_FILE_MACHINE_I386:
		im.arch, im.ptrSize = x86{bits: 32}, 4
	case pe.IMAGE_FILE_MACHINE_ARM64:
		im.arch = arm64{}
	default:
		return nil, fmt.Errorf("no decoder for machine %#x", f.Machine)
	}
	var base uint64
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		base = h.ImageBase
	case *pe.OptionalHeader32:
		base = uint64(h.ImageBase)
	default:
		return nil, fmt.Errorf("an object file, not an executable")
	}
	text := 0 // number of the section, counted from 1
	for i, s := range f.Sections {
		const loaded = pe.IMAGE_SCN_CNT_CODE | pe.IMAGE_SCN_CNT_INITIALIZED_DATA
		if s.Characteristics&loaded == 0 || s.Characteristics&pe.IMAGE_SCN_MEM_DISCARDABLE != 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		if uint64(len(b)) > uint64(s.VirtualSize) {
			b = b[:s.VirtualSize] // sections in the file are padded to whole blocks
		}
		seg := segment{base + uint64(s.VirtualAddress), b}
		if s.Name == ".text" {
			im.text, text = seg, i+1
		}
		im.data = append(im.data, seg)
	}
	for _, s := range f.Symbols {
		n := int(s.SectionNumber)
		if n < 1 || n > len(f.Sections) {
			continue
		}
		addr := base + uint64(f.Sections[n-1].VirtualAddress) + uint64(s.Value)
		if im.anchor(s.Name, addr) {
			continue
		}
		if n == text && s.Name != "runtime.etext" {
			im.symbols = append(im.symbols, symbol{name: s.Name, addr: addr})
		}
	}
	im.close()
	return im, nil
}
