// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strconv"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/level"
)

// An encoder encodes records as messages, one at a time:
//
//	<14>1 2026-11-21T09:30:00.123456Z host app 4242 db [nib@32473 spool="…" seq="7"] {"time":…}
//
// There is no byte order mark before the line, although RFC 5424 requires one
// before UTF-8 text: the line is JSON, which must not begin with one (RFC
// 8259), and receivers forward it as part of the message.
type encoder struct {
	priorities [8]string // "<14>1 ", by severity
	names      string    // " host app 4242 "
	msgID      string    // if empty, the name of the record's logger
	data       string    // the same for all messages, "" for none
	sequence   string    // "[id spool=\"", "" for none
	limit      int       // maximum size of a message in bytes
	reject     bool      // longer messages are rejected, not truncated

	second  jsonenc.SecondCache
	head    []byte
	short   []byte
	scratch jsonread.Scratch
}

// newEncoder makes an encoder for a complete Config.
func newEncoder(c *Config) *encoder {
	e := &encoder{msgID: c.MsgID, data: c.StructuredData, limit: c.MaxSize, reject: c.RejectLong}
	for s := range e.priorities {
		e.priorities[s] = "<" + strconv.Itoa(facilityOf(c.Facility)*8+s) + ">1 "
	}
	b := append(appendField([]byte{' '}, c.Hostname, maxHostname), ' ')
	b = append(appendField(b, c.AppName, maxAppName), ' ')
	b = strconv.AppendInt(b, int64(os.Getpid()), 10)
	e.names = string(append(b, ' '))
	if c.SequenceID != "" {
		e.sequence = "[" + c.SequenceID + ` spool="`
	}
	return e
}

// message returns the message of r: a header, with the space after it, and the
// line. Both are valid until the next call. cut reports that the line was
// truncated, and !ok that it is too long and cannot or must not be truncated.
func (e *encoder) message(r *nib.Record) (head, line []byte, cut, ok bool) {
	head, line = e.header(r), bytes.TrimSuffix(r.Line, newline)
	if len(head)+len(line) <= e.limit {
		return head, line, false, true
	}
	if e.reject {
		return nil, nil, false, false
	}
	e.short = jsonread.Shorten(e.short[:0], line, e.limit-len(head), classOf, &e.scratch)
	if e.scratch.Size() > keepSize {
		e.scratch = jsonread.Scratch{}
	}
	line = e.short
	if cap(e.short) > keepSize {
		e.short = nil
	}
	return head, line, true, len(head)+len(line) <= e.limit
}

var newline = []byte{'\n'}

// classOf returns the truncation priority of a field: it protects the essential
// fields of a line, by the keys that layouts use.
func classOf(key string) jsonread.Class {
	switch key {
	case "time", "timestamp", "@timestamp", "ts", "level", "severity":
		return jsonread.Never
	case "message", "msg":
		return jsonread.Late
	}
	return jsonread.Free
}

// header returns everything before the line.
func (e *encoder) header(r *nib.Record) []byte {
	b := append(e.head[:0], e.priorities[level.Severity(int(r.Level))]...)
	b = e.appendTime(b, r.Time)
	b = append(b, e.names...)
	if e.msgID != "" {
		b = append(b, e.msgID...)
	} else {
		b = appendField(b, r.Logger, maxMsgID)
	}
	b = append(b, ' ')
	if e.data == "" && e.sequence == "" {
		b = append(b, '-')
	}
	b = append(b, e.data...)
	if e.sequence != "" {
		var spool [8]byte
		binary.BigEndian.PutUint64(spool[:], r.Spool)
		b = append(b, e.sequence...)
		b = hex.AppendEncode(b, spool[:])
		b = append(b, `" seq="`...)
		b = strconv.AppendUint(b, r.Seq, 10)
		b = append(b, `"]`...)
	}
	e.head = append(b, ' ')
	return e.head
}

// timestamp is the form of a TIMESTAMP, with six digits of the fraction, as
// many as RFC 5424 allows.
var timestamp = jsonenc.CompileTime("2006-01-02T15:04:05.000000Z07:00")

// appendTime appends a TIMESTAMP in UTC, and - for a record without time.
func (e *encoder) appendTime(dst []byte, ns int64) []byte {
	if ns == 0 {
		return append(dst, '-')
	}
	t, at := time.Unix(0, ns), len(dst)
	dst = timestamp.AppendCached(dst, &e.second, t.Unix(), t.Nanosecond(), time.UTC)
	return append(dst[:at], dst[at+1:len(dst)-1]...) // without the quotes
}

// longestHeader returns the maximum size of a header.
func (e *encoder) longestHeader() int {
	r := nib.Record{Time: 1, Logger: "12345678901234567890123456789012", Spool: 1<<64 - 1,
		Seq: 1<<64 - 1}
	return len(e.header(&r))
}
