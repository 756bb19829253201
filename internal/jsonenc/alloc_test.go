// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/alloctest"
)

func TestNoAllocations(t *testing.T) {
	dst := make([]byte, 0, 8192)
	text := strings.Repeat("plain text, \"quoted\"\n, 中文, \xff, \u2028 ", 20)
	binary := []byte(text)
	tokyo := time.FixedZone("Tokyo \"time\"", 9*3600)
	now := time.Date(2024, 2, 29, 1, 2, 3, 456789012, tokyo)
	far := time.Date(123456, 1, 1, 0, 0, 0, 0, tokyo)
	ipnet := net.IPNet{IP: net.IPv4(10, 0, 0, 0), Mask: net.CIDRMask(8, 32)}
	addr := netip.MustParseAddr("fe80::1").WithZone("eth\"0")
	var cache SecondCache
	rfc, ansi := CompileTime("2006-01-02T15:04:05.000Z07:00"), CompileTime(time.ANSIC+" MST")

	tests := []struct {
		name string
		f    func([]byte) []byte
	}{
		{"String", func(b []byte) []byte { return AppendString(b, text) }},
		{"Bytes", func(b []byte) []byte { return AppendBytes(b, binary) }},
		{"Key", func(b []byte) []byte { return AppendKey(b, text) }},
		{"KeyString", func(b []byte) []byte { return AppendKeyString(b, "key", "value") }},
		{"KeyInt", func(b []byte) []byte { return AppendKeyInt(b, "key", -1234567) }},
		{"KeyUint", func(b []byte) []byte { return AppendKeyUint(b, "key", 1234567) }},
		{"Bool", func(b []byte) []byte { return AppendBool(b, true) }},
		{"Float64", func(b []byte) []byte { return AppendFloat64(AppendFloat64(AppendFloat64(b, 1.5), 1e-300), 1.0/3) }},
		{"Float32", func(b []byte) []byte { return AppendFloat32(AppendFloat32(b, 1.5), 1e-30) }},
		{"Hex", func(b []byte) []byte { return AppendHex(b, binary) }},
		{"Base64", func(b []byte) []byte { return AppendBase64(b, binary) }},
		{"IP", func(b []byte) []byte { return AppendIP(AppendIP(b, ipnet.IP), net.IPv6loopback) }},
		{"IPNet", func(b []byte) []byte { return AppendIPNet(b, ipnet) }},
		{"MAC", func(b []byte) []byte { return AppendMAC(b, net.HardwareAddr(binary[:8])) }},
		{"Addr", func(b []byte) []byte { return AppendAddr(b, addr) }},
		{"AddrPort", func(b []byte) []byte { return AppendAddrPort(b, netip.AddrPortFrom(addr, 80)) }},
		{"Prefix", func(b []byte) []byte { return AppendPrefix(b, netip.PrefixFrom(addr.WithZone(""), 64)) }},
		{"Millis", func(b []byte) []byte { return AppendMillis(b, 1234567) }},
		{"DurationString", func(b []byte) []byte { return AppendDurationString(b, 123456789) }},
		{"UnixNano", func(b []byte) []byte { return appendUnix(b, -62135596800, 1, 9) }},
		{"Time", func(b []byte) []byte { return rfc.Append(b, now) }},
		{"TimeFar", func(b []byte) []byte { return rfc.Append(b, far) }},
		{"TimeLayout", func(b []byte) []byte { return ansi.Append(b, now) }},
		{"TimeCached", func(b []byte) []byte { return rfc.AppendCached(b, &cache, 1e9, 5, tokyo) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { alloctest.Zero(t, func() { dst = tt.f(dst[:0]) }) })
	}
}
