// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"net"
	"net/netip"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// Methods that only call an unexported one, such as Str, are small enough to be
// inlined: on a nil Event they cost one comparison at the call site.

// Str adds a string. It is escaped so that no reader mistakes part of it for a
// line, a terminal command or another field.
func (e *Event) Str(key, val string) *Event {
	if e != nil {
		e.str(key, val)
	}
	return e
}

// Bytes adds text that is held in a byte slice; nil is null.
func (e *Event) Bytes(key string, val []byte) *Event {
	if e != nil && e.beginBytes(key, val) {
		e.buf = jsonenc.AppendBytes(e.buf, val)
	}
	return e
}

// Hex adds bytes as a string of hexadecimal digits; nil is null.
func (e *Event) Hex(key string, val []byte) *Event {
	if e != nil && e.beginBytes(key, val) {
		e.buf = jsonenc.AppendHex(e.buf, val)
	}
	return e
}

// Base64 adds bytes in standard base64 (RFC 4648, section 4); nil is null.
func (e *Event) Base64(key string, val []byte) *Event {
	if e != nil && e.beginBytes(key, val) {
		e.buf = jsonenc.AppendBase64(e.buf, val)
	}
	return e
}

// Bool adds a boolean.
func (e *Event) Bool(key string, val bool) *Event {
	if e != nil {
		e.bool(key, val)
	}
	return e
}

// Int adds a signed integer.
func (e *Event) Int(key string, val int) *Event {
	if e != nil {
		e.int(key, int64(val))
	}
	return e
}

// Int8 adds a signed integer.
func (e *Event) Int8(key string, val int8) *Event {
	if e != nil {
		e.int(key, int64(val))
	}
	return e
}

// Int16 adds a signed integer.
func (e *Event) Int16(key string, val int16) *Event {
	if e != nil {
		e.int(key, int64(val))
	}
	return e
}

// Int32 adds a signed integer.
func (e *Event) Int32(key string, val int32) *Event {
	if e != nil {
		e.int(key, int64(val))
	}
	return e
}

// Int64 adds a signed integer.
func (e *Event) Int64(key string, val int64) *Event {
	if e != nil {
		e.int(key, val)
	}
	return e
}

// Uint adds an unsigned integer.
func (e *Event) Uint(key string, val uint) *Event {
	if e != nil {
		e.uint(key, uint64(val))
	}
	return e
}

// Uint8 adds an unsigned integer.
func (e *Event) Uint8(key string, val uint8) *Event {
	if e != nil {
		e.uint(key, uint64(val))
	}
	return e
}

// Uint16 adds an unsigned integer.
func (e *Event) Uint16(key string, val uint16) *Event {
	if e != nil {
		e.uint(key, uint64(val))
	}
	return e
}

// Uint32 adds an unsigned integer.
func (e *Event) Uint32(key string, val uint32) *Event {
	if e != nil {
		e.uint(key, uint64(val))
	}
	return e
}

// Uint64 adds an unsigned integer.
func (e *Event) Uint64(key string, val uint64) *Event {
	if e != nil {
		e.uint(key, val)
	}
	return e
}

// Float32 adds a number with the fewest digits that give the same float32 back.
// Values that JSON has no number for are strings: "NaN", "+Inf", "-Inf".
func (e *Event) Float32(key string, val float32) *Event {
	if e != nil {
		e.float32(key, val)
	}
	return e
}

// Float64 adds a number with the fewest digits that give the same float64 back.
func (e *Event) Float64(key string, val float64) *Event {
	if e != nil {
		e.float64(key, val)
	}
	return e
}

// Time adds a time in the layout's format and zone.
func (e *Event) Time(key string, t time.Time) *Event {
	if e != nil && e.beginField(key) {
		e.addTime(t)
	}
	return e
}

// Dur adds a duration in the layout's format: milliseconds by default.
func (e *Event) Dur(key string, d time.Duration) *Event {
	if e != nil {
		e.dur(key, d)
	}
	return e
}

// TimeDiff adds the duration from start to t, negative when t is earlier. It is
// exact up to 292 years and saturates beyond.
func (e *Event) TimeDiff(key string, t, start time.Time) *Event {
	if e != nil {
		e.dur(key, t.Sub(start))
	}
	return e
}

// IPAddr adds an IP address as text; an empty one is null.
func (e *Event) IPAddr(key string, ip net.IP) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendIP(e.buf, ip)
	}
	return e
}

// IPPrefix adds a network as text, such as "10.0.0.0/8".
func (e *Event) IPPrefix(key string, p net.IPNet) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendIPNet(e.buf, p)
	}
	return e
}

// MACAddr adds a hardware address as text.
func (e *Event) MACAddr(key string, a net.HardwareAddr) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendMAC(e.buf, a)
	}
	return e
}

// Addr adds an IP address as text; the zero Addr is "invalid IP".
func (e *Event) Addr(key string, a netip.Addr) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendAddr(e.buf, a)
	}
	return e
}

// AddrPort adds an address and port as text.
func (e *Event) AddrPort(key string, a netip.AddrPort) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendAddrPort(e.buf, a)
	}
	return e
}

// Prefix adds a network as text, such as "10.0.0.0/8".
func (e *Event) Prefix(key string, p netip.Prefix) *Event {
	if e != nil && e.beginField(key) {
		e.buf = jsonenc.AppendPrefix(e.buf, p)
	}
	return e
}
