// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A frame is a command or a response of RELP:
//
//	TXNR SP COMMAND SP DATALEN [SP DATA] LF
//
// The specification is
// https://github.com/rsyslog/librelp/blob/master/doc/relp.html. TXNR is at
// least 1, and 0 in hints of the server.
type frame struct {
	number        int
	command, data []byte
}

const (
	maxNumber   = 999_999_999 // TXNR and DATALEN have nine digits at most
	maxCommand  = 32          // letters
	maxResponse = 64 << 10    // maximum data of a response
	maxFrame    = maxResponse + 64
)

var errFrame = errors.New("the receiver's answer is not RELP")

// parseFrame parses the frame at the start of b, and returns its length, or 0
// if it is incomplete. data and command alias b.
func parseFrame(b []byte) (f frame, size int, err error) {
	i := 0
	if f.number, i, err = parseNumber(b, i); i == 0 {
		return f, 0, err
	}
	from := i
	for ; i < len(b) && b[i] != ' '; i++ {
		if c := b[i] | 0x20; c < 'a' || c > 'z' || i-from == maxCommand {
			return f, 0, errFrame
		}
	}
	if i == len(b) {
		return f, 0, nil
	}
	if f.command = b[from:i]; len(f.command) == 0 {
		return f, 0, errFrame
	}
	return parseData(f, b, i+1)
}

// parseData parses the part after the command: the length, and the data if
// there is any.
func parseData(f frame, b []byte, i int) (frame, int, error) {
	from, length := i, 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if length = length*10 + int(b[i]-'0'); i-from == 9 || length > maxResponse {
			return f, 0, errFrame
		}
	}
	if i == len(b) {
		return f, 0, nil
	}
	if i == from {
		return f, 0, errFrame
	}
	if length > 0 {
		if b[i] != ' ' {
			return f, 0, errFrame
		}
		i++
		if len(b)-i < length {
			return f, 0, nil
		}
		f.data = b[i : i+length]
		i += length
	} else if b[i] == ' ' {
		i++ // some receivers write the space even without data
	}
	if i == len(b) {
		return f, 0, nil
	}
	if b[i] != '\n' {
		return f, 0, errFrame
	}
	return f, i + 1, nil
}

// parseNumber parses a TXNR and the space after it. next is the index after
// both, or 0 if b is incomplete or with an error.
func parseNumber(b []byte, i int) (n, next int, err error) {
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if i == 9 {
			return 0, 0, errFrame
		}
		n = n*10 + int(b[i]-'0')
	}
	switch {
	case i == len(b):
		return 0, 0, nil
	case i == 0 || b[i] != ' ':
		return 0, 0, errFrame
	}
	return n, i + 1, nil
}

// appendCommand appends the frame of a command without its data and the final
// line feed.
func appendCommand(dst []byte, number int, command string, length int) []byte {
	dst = strconv.AppendInt(dst, int64(number), 10)
	dst = append(append(append(dst, ' '), command...), ' ')
	return strconv.AppendInt(dst, int64(length), 10)
}

// newFrames returns a reader of a stream for readFrame.
func newFrames(stream io.Reader) *bufio.Reader { return bufio.NewReaderSize(stream, maxFrame) }

// readFrame reads the next frame, which is valid until the following call.
func readFrame(r *bufio.Reader) (frame, error) {
	for {
		b, _ := r.Peek(r.Buffered())
		f, size, err := parseFrame(b)
		if err != nil {
			return frame{}, fmt.Errorf("%w: %.40q", err, b)
		}
		if size > 0 {
			_, err = r.Discard(size) // does not fail: the frame is in the buffer
			return f, err
		}
		if _, err := r.Peek(len(b) + 1); err != nil {
			return frame{}, err
		}
	}
}
