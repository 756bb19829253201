// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// frame is a function on a stack and the current line in it.
type frame struct {
	fn, file string
	line     int
}

// sample is a stack, the allocation first, and the number of objects that it
// allocated.
type sample struct {
	stack   []frame
	objects int64
}

// errProfile is matched when a file is not a profile of allocations.
var errProfile = errors.New("not an allocation profile")

// readProfile reads a file of -test.memprofile: protocol buffers, compressed.
// It decodes only the fields that are needed.
func readProfile(name string) ([]sample, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	p := profile{locations: map[uint64][]place{}, functions: map[uint64][2]uint64{}}
	if err := p.read(text); err != nil {
		return nil, err
	}
	return p.samples()
}

// profile is a message whose indexes are not resolved yet.
type profile struct {
	strings   []string
	raw       [][2][]uint64 // locations and values of a sample
	locations map[uint64][]place
	functions map[uint64][2]uint64 // indexes of name and file
}

// place is a line of a location; several when functions were inlined.
type place struct{ function, line uint64 }

// Field numbers of the messages.
const (
	fieldSample, fieldLocation, fieldFunction, fieldString = 2, 4, 5, 6
	// Field numbers within a sample, location, line or function.
	sampleLocation, sampleValue            = 1, 2
	locationID, locationLine               = 1, 4
	lineFunction, lineNumber               = 1, 2
	functionID, functionName, functionFile = 1, 2, 4
)

func (p *profile) read(text []byte) error {
	return fields(text, func(n int, v uint64, b []byte) error {
		switch n {
		case fieldString:
			p.strings = append(p.strings, string(b))
		case fieldSample:
			var s [2][]uint64
			err := fields(b, func(n int, v uint64, b []byte) error {
				if n == sampleLocation || n == sampleValue {
					return numbers(b, v, &s[n-sampleLocation])
				}
				return nil
			})
			p.raw = append(p.raw, s)
			return err
		case fieldLocation:
			return p.location(b)
		case fieldFunction:
			var id uint64
			var f [2]uint64
			err := fields(b, func(n int, v uint64, _ []byte) error {
				switch n {
				case functionID:
					id = v
				case functionName:
					f[0] = v
				case functionFile:
					f[1] = v
				}
				return nil
			})
			p.functions[id] = f
			return err
		}
		return nil
	})
}

func (p *profile) location(b []byte) error {
	var id uint64
	var lines []place
	err := fields(b, func(n int, v uint64, b []byte) error {
		switch n {
		case locationID:
			id = v
		case locationLine:
			var l place
			lines = append(lines, l)
			return fields(b, func(n int, v uint64, _ []byte) error {
				switch n {
				case lineFunction:
					lines[len(lines)-1].function = v
				case lineNumber:
					lines[len(lines)-1].line = v
				}
				return nil
			})
		}
		return nil
	})
	p.locations[id] = lines
	return err
}

func (p *profile) samples() ([]sample, error) {
	var out []sample
	for _, s := range p.raw {
		if len(s[1]) == 0 {
			return nil, errProfile
		}
		x := sample{objects: int64(s[1][0])} // alloc_objects comes first
		for _, id := range s[0] {
			for _, l := range p.locations[id] {
				f := p.functions[l.function]
				if f[0] >= uint64(len(p.strings)) || f[1] >= uint64(len(p.strings)) {
					return nil, errProfile
				}
				x.stack = append(x.stack, frame{p.strings[f[0]], p.strings[f[1]], int(l.line)})
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// fields calls f with each field of a message: its number, and its value or
// its bytes.
func fields(b []byte, f func(n int, v uint64, b []byte) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		b = b[n:]
		var inner []byte
		switch tag & 7 {
		case 0: // a number
		case 2: // bytes, of length v
			if v > uint64(len(b)) {
				return errProfile
			}
			inner, b = b[:v], b[v:]
		default:
			return errProfile
		}
		if err := f(int(tag>>3), v, inner); err != nil {
			return err
		}
	}
	return nil
}

// numbers adds a field of numbers: several in bytes, or one.
func numbers(b []byte, v uint64, to *[]uint64) error {
	if b == nil {
		*to = append(*to, v)
		return nil
	}
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		*to = append(*to, v)
		b = b[n:]
	}
	return nil
}
