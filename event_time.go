// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"net"
	"net/netip"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
)

// Time adds a time in the layout's format and zone.
func (e *Event) Time(key string, t time.Time) *Event {
	if e == nil {
		return nil
	}
	if e.open(key) {
		e.addTime(t)
	}
	return e
}

// addTime appends a time. The times of consecutive lines often share their
// second, whose text the event keeps.
func (e *Event) addTime(t time.Time) {
	f := e.log.core.format
	zone := f.TimeZone
	if f.KeepZone {
		zone = t.Location()
	}
	e.buf = f.time.AppendCached(e.buf, &e.fieldSecond, t.Unix(), t.Nanosecond(), zone)
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

func (e *Event) dur(key string, d time.Duration) {
	if e.open(key) {
		e.buf = e.log.core.format.appendDuration(e.buf, d)
	}
}

// IPAddr adds an IP address as text; an empty one is null.
func (e *Event) IPAddr(key string, ip net.IP) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendIP(e.buf, ip)
	}
	return e
}

// IPPrefix adds a network as text, such as "10.0.0.0/8".
func (e *Event) IPPrefix(key string, p net.IPNet) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendIPNet(e.buf, p)
	}
	return e
}

// MACAddr adds a hardware address as text.
func (e *Event) MACAddr(key string, a net.HardwareAddr) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendMAC(e.buf, a)
	}
	return e
}

// Addr adds an IP address as text; the zero Addr is "invalid IP".
func (e *Event) Addr(key string, a netip.Addr) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendAddr(e.buf, a)
	}
	return e
}

// AddrPort adds an address and port as text.
func (e *Event) AddrPort(key string, a netip.AddrPort) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendAddrPort(e.buf, a)
	}
	return e
}

// Prefix adds a network as text, such as "10.0.0.0/8".
func (e *Event) Prefix(key string, p netip.Prefix) *Event {
	if e != nil && e.open(key) {
		e.buf = jsonenc.AppendPrefix(e.buf, p)
	}
	return e
}
