// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
)

// A worker reports to its parent in frames over a pipe: a kind, the length of
// the rest in two bytes, the rest. A written frame stays in the pipe when the
// worker dies, and one of up to 4 KiB is written atomically.
const (
	frameLine    = 'l' // the call that wrote a line has returned: which line it was
	frameDropped = 'd' // the call has returned an error
	frameText    = 't' // a line to be shown
	frameUp      = 'u' // the service answers: JSON of an up
	frameCaught  = 'c' // the records of the previous worker are delivered: JSON of a caught
	frameEnd     = 'e' // everything is delivered: JSON of an end
	frameFault   = 'f' // the worker cannot continue: text
)

const frameHead = 3

// An up is sent when the service answers.
type up struct {
	URL       string
	Opened    int64  // ns that it took to open the spool
	Recovered uint64 // number of records in it, for the destination that had most
}

// A caught is sent when the records of the previous worker are delivered.
type caught struct {
	After int64 // ns after the spool was opened
}

// An end is sent last.
type end struct {
	Rejected map[string]uint64 // records that a destination rejected, or that were damaged
}

// A lineKey identifies a line of a run.
type lineKey struct {
	kind       int // serviceLine or accessLine
	connection int
	n          int
}

const keySize = 9

func (k lineKey) append(dst []byte) []byte {
	dst = append(dst, byte(k.kind))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(k.connection))
	return binary.LittleEndian.AppendUint32(dst, uint32(k.n))
}

func readKey(b []byte) (k lineKey, ok bool) {
	if len(b) != keySize {
		return k, false
	}
	return lineKey{int(b[0]), int(binary.LittleEndian.Uint32(b[1:])), int(binary.LittleEndian.Uint32(b[5:]))}, true
}

// appendFrame makes a frame. The rest is truncated to the capacity of a frame.
func appendFrame(dst []byte, kind byte, rest []byte) []byte {
	rest = rest[:min(len(rest), 4096-frameHead)]
	dst = binary.LittleEndian.AppendUint16(append(dst, kind), uint16(len(rest)))
	return append(dst, rest...)
}

// writeFrame writes a frame of JSON.
func writeFrame(f *os.File, kind byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.Write(appendFrame(nil, kind, text))
	return err
}

// readFrame reads the next frame. A truncated frame at the end is ignored.
func readFrame(r io.Reader, buf *[4096]byte) (kind byte, rest []byte, err error) {
	if _, err := io.ReadFull(r, buf[:frameHead]); err != nil {
		return 0, nil, io.EOF
	}
	kind = buf[0]
	rest = buf[:min(int(binary.LittleEndian.Uint16(buf[1:])), len(buf))]
	if _, err := io.ReadFull(r, rest); err != nil {
		return 0, nil, io.EOF
	}
	return kind, rest, nil
}
