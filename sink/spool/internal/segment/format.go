// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"time"

	"github.com/nib-log/nib"
)

// The format, version 2; docs/spool-format.md describes it. All numbers are
// little-endian.
const (
	Magic      = "nibspool"
	version    = 2
	HeaderSize = 4096 // size of the header of a segment; the first record follows
	RecordHead = 48

	MinSize = 64 << 10
	MaxSize = 1 << 30 // lengths are 31 bits
)

// The flags of a record.
const (
	apart     = 1 // its message is stored separately from its line
	addressed = 2 // it is a notice for one destination
)

// Addressed is the message offset of a notice for one destination. Instead of a
// logger's name the record has the name of the destination, and instead of a
// message the counts that the notice reports.
const Addressed = -2

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	bigEndian  = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
)

// stored converts a word between its value and its little-endian representation
// on this machine.
func stored(w uint64) uint64 {
	if bigEndian {
		return bits.ReverseBytes64(w)
	}
	return w
}

// Checksum returns the checksum of data other than records: headers and
// cursors.
func Checksum(b []byte) uint32 { return crc32.Update(0, castagnoli, b) }

// Align rounds n up to the alignment of records.
func Align(n int) int { return (n + 7) &^ 7 }

// An Identity holds the properties that all records of a segment share.
type Identity struct {
	Spool  uint64 // random id of the directory
	Number uint64 // number of the segment
	Gen    uint32 // counts the processes that have written to the spool
	Stream uint64 // of the process that made it; 0 in version 1: then it is Spool
	Boot   uint64 // a label of the boot in which the segment was made
	Size   int64
}

// Seed begins the checksum of each record, so that a record of another segment,
// or one embedded in a line, is not taken for one of these.
func (id Identity) Seed() uint32 {
	var b [20]byte
	le.PutUint64(b[0:], id.Spool)
	le.PutUint64(b[8:], id.Number)
	le.PutUint32(b[16:], id.Gen)
	return Checksum(b[:])
}

// PutHeader writes the part of a segment's header that never changes.
func PutHeader(b []byte, id Identity) {
	copy(b, Magic)
	le.PutUint32(b[8:], version)
	le.PutUint64(b[16:], id.Spool)
	le.PutUint64(b[24:], id.Number)
	le.PutUint64(b[32:], uint64(id.Size))
	le.PutUint32(b[40:], id.Gen)
	le.PutUint32(b[44:], uint32(id.Stream))
	le.PutUint64(b[48:], id.Boot)
	le.PutUint32(b[56:], uint32(id.Stream>>32))
	le.PutUint32(b[60:], Checksum(b[:60]))
}

// ReadHeader reads a header written by PutHeader. A later version may change
// everything but the magic, the version, and the checksum at 60 of the first 60
// bytes.
func ReadHeader(b []byte) (id Identity, err error) {
	if len(b) < 64 || string(b[:8]) != Magic || le.Uint32(b[60:]) != Checksum(b[:60]) {
		return Identity{}, ErrHeader
	}
	v := le.Uint32(b[8:])
	if v > version {
		return Identity{}, VersionError{v, version}
	} else if v == 0 {
		return Identity{}, ErrHeader
	}
	id = Identity{
		Spool: le.Uint64(b[16:]), Number: le.Uint64(b[24:]), Size: int64(le.Uint64(b[32:])),
		Gen: le.Uint32(b[40:]), Boot: le.Uint64(b[48:]),
	}
	if v > 1 {
		id.Stream = uint64(le.Uint32(b[44:])) | uint64(le.Uint32(b[56:]))<<32
	}
	if id.Size < MinSize || id.Size > MaxSize || id.Size%8 != 0 || v > 1 && id.Stream == 0 {
		return id, ErrHeader
	}
	return id, nil
}

// ErrHeader means that a file has no valid header.
var ErrHeader = errors.New("not a segment header")

// ErrVersion means that a file was written by a later version.
var ErrVersion = errors.New(
	"a file of the spool has a newer format version than this program supports")

// A VersionError is the ErrVersion of one file.
type VersionError struct{ Found, Known uint32 }

func (v VersionError) Error() string {
	return fmt.Sprintf("format version %d, and this program supports versions up to %d", v.Found,
		v.Known)
}

func (VersionError) Is(target error) bool { return target == ErrVersion }

// A Start is written when a segment is activated.
type Start struct {
	First   uint64 // number of its first record, at least 1
	Skipped uint64 // how many numbers before First have no record
	Dropped bool   // some of the skipped numbers were in dropped segments
	Unsure  uint64 // how many numbers before the skipped ones may never have been used

	Reported Tally // the counts that its notice reports, if this process has written it
}

func putStart(b []byte, seed uint32, s Start) {
	le.PutUint64(b[64:], s.First)
	le.PutUint64(b[72:], s.Skipped)
	le.PutUint64(b[80:], 1<<32|uint64(crc32.Update(seed, castagnoli, b[64:80])))
}

func ReadStart(b []byte, seed uint32) (s Start, ok bool) {
	s = Start{First: le.Uint64(b[64:]), Skipped: le.Uint64(b[72:])}
	check := 1<<32 | uint64(crc32.Update(seed, castagnoli, b[64:80]))
	ok = le.Uint64(b[80:]) == check && s.First > s.Skipped && s.First < math.MaxInt64
	if len(b) >= unsureAt+8 {
		s.Unsure = min(count(b, unsureAt, seed), s.First-min(s.Skipped, s.First))
	}
	return s.withDropped(b, seed), ok
}

// MessageOffset returns the offset of the message of r in its line, or -1. If
// both are in the same array, the capacity of the message gives the offset.
func MessageOffset(r *nib.Record) int {
	at := cap(r.Line) - cap(r.Message)
	if len(r.Message) == 0 || at < 0 || at+len(r.Message) > len(r.Line) ||
		&r.Line[at] != &r.Message[0] {
		return -1
	}
	return at
}

// loggerName returns the logger's name, truncated to fit into a record.
func loggerName(r *nib.Record) string { return r.Logger[:min(len(r.Logger), math.MaxUint8)] }

// RecordSize returns the number of bytes that r takes in a segment, before
// alignment.
func RecordSize(r *nib.Record, message int) int {
	n := RecordHead + len(r.Line) + min(len(r.Logger), math.MaxUint8)
	if message < 0 {
		n += len(r.Message)
	}
	return n
}

// PutRecord writes r, except its first eight bytes, to b, which has exactly its
// size. It returns these eight bytes: the length and the checksum.
//
// The head is written in words of eight bytes, because the checksum reads it
// so: a load that spans several stores waits until they have left the
// processor's store buffer.
func PutRecord(b []byte, r *nib.Record, message int, seq uint64, label, seed uint32) uint64 {
	name := loggerName(r)
	var flags uint64
	n := RecordHead + copy(b[RecordHead:], r.Line)
	if name != "" {
		n += copy(b[n:], name)
	}
	if message < 0 && r.Message != nil {
		if flags = apart; message == Addressed {
			flags |= addressed
		}
		message = n - RecordHead
		copy(b[n:], r.Message)
	}
	level := uint16(min(max(r.Level, math.MinInt16), math.MaxInt16))
	head := (*[RecordHead]byte)(b)
	le.PutUint64(head[8:], seq)
	le.PutUint64(head[16:], uint64(r.Time))
	le.PutUint64(head[24:], uint64(label)|uint64(level)<<32|flags<<48|uint64(len(name))<<56)
	le.PutUint64(head[32:], uint64(r.PC))
	// -1 if there is no message.
	le.PutUint64(head[40:], uint64(uint32(message))|uint64(len(r.Message))<<32)
	return uint64(len(b)) | uint64(crc32.Update(seed, castagnoli, b[8:]))<<32
}

// recordAt returns the bytes of the record at offset at of b if there is a
// complete one of this segment. It trusts no length and does not read past b.
func recordAt(b []byte, at int, seed uint32) (rec []byte, seq uint64, ok bool) {
	if at+RecordHead > len(b) {
		return nil, 0, false
	}
	w := stored(word(b, at).Load())
	n := int(int32(uint32(w)))
	if n < RecordHead || n > len(b)-at {
		return nil, 0, false
	}
	rec = b[at : at+n : at+n]
	if crc32.Update(seed, castagnoli, rec[8:]) != uint32(w>>32) {
		return nil, 0, false
	}
	return rec, le.Uint64(rec[8:]), true
}

// Decode returns the Record in rec, to which it refers. The checksum is right,
// but Decode still rejects an inconsistent record. own reports whether the
// record is of this process: program counters are meaningless in another one.
// names interns the names of loggers, since a process has few.
func Decode(rec []byte, own bool, names map[string]string) (r nib.Record, ok bool) {
	if !DecodeInto(&r, rec, own, names) {
		return nib.Record{}, false
	}
	return r, true
}

// DecodeInto decodes rec into r; if it returns false, r is not usable. It
// stores each field in place: copying a whole Record would read words in
// another size than they were just written in, which stalls the processor.
func DecodeInto(r *nib.Record, rec []byte, own bool, names map[string]string) (ok bool) {
	if len(rec) < RecordHead {
		return false
	}
	body := rec[RecordHead:]
	flags, name := rec[30], int(rec[31])
	at, n := le.Uint32(rec[40:]), int64(le.Uint32(rec[44:]))
	lineEnd := int64(len(body) - name)
	if flags&apart != 0 {
		lineEnd -= n
	}
	if lineEnd < 0 || flags&^(apart|addressed) != 0 {
		return false
	}
	r.Time = int64(le.Uint64(rec[16:]))
	r.Level = nib.Level(int16(le.Uint16(rec[28:])))
	r.PC, r.Logger, r.Message = 0, "", nil
	r.Line = body[:lineEnd:lineEnd]
	r.Spool, r.Seq = 0, SeqOf(rec)
	if flags&addressed != 0 {
		return flags&apart != 0
	}
	if name > 0 {
		r.Logger = intern(names, body[lineEnd:lineEnd+int64(name)])
	}
	if own {
		r.PC = uintptr(le.Uint64(rec[32:]))
	}
	if at == math.MaxUint32 {
		return n == 0
	}
	if int64(at)+n > int64(len(body)) {
		return false
	}
	r.Message = body[at : int64(at)+n : int64(at)+n]
	return true
}

const maxNames = 1024

// intern returns b as a string, without an allocation if names has it.
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

// TimeOf returns the time of a record.
func TimeOf(rec []byte) time.Time { return time.Unix(0, int64(le.Uint64(rec[16:]))) }

// SeqOf returns the number of a record.
func SeqOf(rec []byte) uint64 { return le.Uint64(rec[8:]) }
