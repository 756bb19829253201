// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/nib-log/nib"
)

// The format, version 1; docs/spool-format.md describes it. All numbers are
// little-endian.
const (
	magic      = "nibspool"
	version    = 1
	headerSize = 4096 // of a segment; the first record follows
	recordHead = 48

	minSegment = 64 << 10
	maxSegment = 1 << 30 // lengths are 31 bits
)

// apart is the flag of a record whose message is not a part of its line.
const apart = 1

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	bigEndian  = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
)

// stored turns a word into what its bytes are on this machine, and back.
func stored(w uint64) uint64 {
	if bigEndian {
		return bits.ReverseBytes64(w)
	}
	return w
}

// align rounds up to what records are aligned to.
func align(n int) int { return (n + 7) &^ 7 }

// An identity is what all records of a segment have in common.
type identity struct {
	spool  uint64 // random, of the directory
	number uint64 // of the segment
	gen    uint32 // counts the processes that have written to the spool
	boot   uint64 // a label: of the system's run in which the segment was made
	size   int64
}

// seed begins the checksum of each record, so that a record of another segment,
// or one embedded in a line, is not taken for one of these.
func (id identity) seed() uint32 {
	var b [20]byte
	le.PutUint64(b[0:], id.spool)
	le.PutUint64(b[8:], id.number)
	le.PutUint32(b[16:], id.gen)
	return crc32.Update(0, castagnoli, b[:])
}

// putHeader writes the part of a segment's header that never changes.
func putHeader(b []byte, id identity) {
	copy(b, magic)
	le.PutUint32(b[8:], version)
	le.PutUint64(b[16:], id.spool)
	le.PutUint64(b[24:], id.number)
	le.PutUint64(b[32:], uint64(id.size))
	le.PutUint32(b[40:], id.gen)
	le.PutUint64(b[48:], id.boot)
	le.PutUint32(b[60:], crc32.Update(0, castagnoli, b[:60]))
}

// readHeader reads what putHeader has written. A later version may change
// everything but the magic, the version, and the checksum of the first 60 bytes
// at 60.
func readHeader(b []byte) (id identity, err error) {
	if len(b) < 64 || string(b[:8]) != magic || le.Uint32(b[60:]) != crc32.Update(0, castagnoli, b[:60]) {
		return identity{}, errHeader
	}
	if v := le.Uint32(b[8:]); v > version {
		return identity{}, laterVersion{v, version}
	} else if v < version {
		return identity{}, errHeader
	}
	id = identity{
		spool: le.Uint64(b[16:]), number: le.Uint64(b[24:]), size: int64(le.Uint64(b[32:])),
		gen: le.Uint32(b[40:]), boot: le.Uint64(b[48:]),
	}
	if id.size < minSegment || id.size > maxSegment || id.size%8 != 0 {
		return id, errHeader
	}
	return id, nil
}

// A laterVersion is the ErrVersion of one file.
type laterVersion struct{ is, known uint32 }

func (v laterVersion) Error() string {
	return fmt.Sprintf("format version %d, and this program supports versions up to %d", v.is, v.known)
}

func (laterVersion) Is(target error) bool { return target == ErrVersion }

// A start is written when a segment is taken into use.
type start struct {
	first   uint64 // number of its first record, at least 1
	skipped uint64 // how many numbers before that no record has
	dropped bool   // some of these went with segments that were dropped
	unsure  uint64 // how many of the numbers before these may never have been given
}

func putStart(b []byte, seed uint32, s start) {
	le.PutUint64(b[64:], s.first)
	le.PutUint64(b[72:], s.skipped)
	le.PutUint64(b[80:], 1<<32|uint64(crc32.Update(seed, castagnoli, b[64:80])))
}

func readStart(b []byte, seed uint32) (s start, ok bool) {
	s = start{first: le.Uint64(b[64:]), skipped: le.Uint64(b[72:])}
	check := 1<<32 | uint64(crc32.Update(seed, castagnoli, b[64:80]))
	ok = le.Uint64(b[80:]) == check && s.first > s.skipped && s.first < math.MaxInt64
	if len(b) >= unsureAt+8 {
		s.unsure = min(count(b, unsureAt, seed), s.first-min(s.skipped, s.first))
	}
	return s.withDropped(b, seed), ok
}

// messageAt returns where the message of r is in its line, or -1. It may be in
// the same array: then the capacity behind it gives the offset.
func messageAt(r *nib.Record) int {
	at := cap(r.Line) - cap(r.Message)
	if len(r.Message) == 0 || at < 0 || at+len(r.Message) > len(r.Line) || &r.Line[at] != &r.Message[0] {
		return -1
	}
	return at
}

// loggerName is as much of the name as a record has room for.
func loggerName(r *nib.Record) string { return r.Logger[:min(len(r.Logger), math.MaxUint8)] }

// recordSize is how many bytes r takes in a segment, before alignment.
func recordSize(r *nib.Record, message int) int {
	n := recordHead + len(r.Line) + min(len(r.Logger), math.MaxUint8)
	if message < 0 {
		n += len(r.Message)
	}
	return n
}

// putRecord writes all of r but the first eight bytes to b, which has exactly
// its size, and returns those: the length and the checksum.
//
// The head is written in words of eight bytes, as the checksum reads it: a load
// that needs several stores has to wait until these have left the processor's
// store buffer.
func putRecord(b []byte, r *nib.Record, message int, seq uint64, gen, seed uint32) uint64 {
	name := loggerName(r)
	var flags uint64
	n := recordHead + copy(b[recordHead:], r.Line)
	if name != "" {
		n += copy(b[n:], name)
	}
	if message < 0 && r.Message != nil {
		flags, message = apart, n-recordHead
		copy(b[n:], r.Message)
	}
	offset := uint32(message)
	if r.Message == nil {
		offset = math.MaxUint32
	}
	level := uint16(min(max(r.Level, math.MinInt16), math.MaxInt16))
	head := (*[recordHead]byte)(b)
	le.PutUint64(head[8:], seq)
	le.PutUint64(head[16:], uint64(r.Time))
	le.PutUint64(head[24:], uint64(gen)|uint64(level)<<32|flags<<48|uint64(len(name))<<56)
	le.PutUint64(head[32:], uint64(r.PC))
	le.PutUint64(head[40:], uint64(offset)|uint64(len(r.Message))<<32)
	return uint64(len(b)) | uint64(crc32.Update(seed, castagnoli, b[8:]))<<32
}

// recordAt returns the bytes of the record at offset at of b if there is one,
// whole and of this segment. It reads nothing behind b and trusts no length.
func recordAt(b []byte, at int, gen, seed uint32) (rec []byte, seq uint64, ok bool) {
	if at < 0 || at+recordHead > len(b) {
		return nil, 0, false
	}
	w := stored(word(b, at).Load())
	n := int(int32(uint32(w)))
	if n < recordHead || n > len(b)-at || le.Uint32(b[at+24:]) != gen {
		return nil, 0, false
	}
	rec = b[at : at+n : at+n]
	if crc32.Update(seed, castagnoli, rec[8:]) != uint32(w>>32) {
		return nil, 0, false
	}
	return rec, le.Uint64(rec[8:]), true
}

// decode makes a Record of rec, which it refers to. The checksum was right; a
// record that is inconsistent nevertheless is not accepted. A program counter
// means nothing in another process: own reports whether it is of this one.
// names keeps the texts of loggers, of which there are few.
func decode(rec []byte, own bool, names map[string]string) (r nib.Record, ok bool) {
	if len(rec) < recordHead {
		return r, false
	}
	body := rec[recordHead:]
	flags, name := rec[30], int(rec[31])
	at, n := le.Uint32(rec[40:]), int64(le.Uint32(rec[44:]))
	lineEnd := int64(len(body) - name)
	if flags&apart != 0 {
		lineEnd -= n
	}
	if lineEnd < 0 || flags&^apart != 0 {
		return r, false
	}
	r = nib.Record{
		Time:  int64(le.Uint64(rec[16:])),
		Level: nib.Level(int16(le.Uint16(rec[28:]))),
		Seq:   le.Uint64(rec[8:]),
		Line:  body[:lineEnd:lineEnd],
	}
	if name > 0 {
		r.Logger = intern(names, body[lineEnd:lineEnd+int64(name)])
	}
	if own {
		r.PC = uintptr(le.Uint64(rec[32:]))
	}
	if at != math.MaxUint32 {
		if int64(at)+n > int64(len(body)) {
			return nib.Record{}, false
		}
		r.Message = body[at : int64(at)+n : int64(at)+n]
	} else if n != 0 {
		return nib.Record{}, false
	}
	return r, true
}

const maxNames = 1024

// intern returns the text of b, without an allocation if it is known.
func intern(names map[string]string, b []byte) string {
	if s, ok := names[string(b)]; ok {
		return s
	}
	if len(names) >= maxNames {
		clear(names)
	}
	s := string(b)
	names[s] = s
	return s
}
