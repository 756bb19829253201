// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

func checkText(t *testing.T, name string, got []byte, want string) {
	t.Helper()
	if want = quote(want); string(got) != want {
		t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
	}
}

var rawAddresses = []string{
	"", "\x01", "\x7f\x00\x00\x01", "\xff\xff\xff\xff", "12345", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01", "\xfe\x80\x00\x00\x00\x00\x00\x00\x02\x42\xac\xff\xfe\x11\x00\x02",
	"\x20\x01\x0d\xb8\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x00\x00\x01", "seventeen bytes!!",
}

func TestIP(t *testing.T) {
	for _, raw := range rawAddresses {
		ip := net.IP(raw)
		if len(raw) == 0 {
			if got := string(AppendIP(nil, ip)); got != "null" {
				t.Errorf("empty IP: %s, want null", got)
			}
			continue
		}
		checkText(t, "AppendIP", AppendIP(nil, ip), ip.String())
	}
	if got := string(AppendIP(nil, nil)); got != "null" {
		t.Errorf("nil IP: %s, want null", got)
	}
}

func TestIPNet(t *testing.T) {
	masks := []net.IPMask{
		nil, {}, {255}, net.CIDRMask(0, 32), net.CIDRMask(8, 32), net.CIDRMask(32, 32), {255, 0, 255, 0},
		net.CIDRMask(0, 128), net.CIDRMask(64, 128), net.CIDRMask(104, 128), net.CIDRMask(128, 128),
		net.IPMask("\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\xff\x00\x01"),
	}
	for _, raw := range rawAddresses {
		for _, mask := range masks {
			n := net.IPNet{IP: net.IP(raw), Mask: mask}
			checkText(t, "AppendIPNet", AppendIPNet(nil, n), n.String())
		}
	}
}

func TestMAC(t *testing.T) {
	for n := range 21 {
		mac := net.HardwareAddr("\x00\x1a\xff\x0a\xa0\x42\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"[:n])
		checkText(t, "AppendMAC", AppendMAC(nil, mac), mac.String())
	}
}

func TestAddr(t *testing.T) {
	list := []netip.Addr{
		{}, netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("255.1.20.255"), netip.MustParseAddr("::"), netip.MustParseAddr("::1"),
		netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("1:2:3:4:5:6:7:8"), netip.MustParseAddr("::ffff:1.2.3.4"),
	}
	for _, zone := range []string{"eth0", "\"forged\":1", "new\nline\u2028", "\xff"} {
		list = append(list, netip.MustParseAddr("fe80::1").WithZone(zone), netip.MustParseAddr("::ffff:1.2.3.4").WithZone(zone))
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 8))
	for range 500 {
		var raw [16]byte
		for i := range raw {
			raw[i] = byte(r.Uint32()) & byte(-r.IntN(2)) // half of them 0
		}
		list = append(list, netip.AddrFrom16(raw), netip.AddrFrom4([4]byte(raw[:4])))
	}
	for _, a := range list {
		checkText(t, "AppendAddr", AppendAddr(nil, a), a.String())
		for _, port := range []uint16{0, 80, 65535} {
			p := netip.AddrPortFrom(a, port)
			checkText(t, "AppendAddrPort", AppendAddrPort(nil, p), p.String())
		}
		for _, bits := range []int{-1, 0, 8, 32, 33, 64, 128, 129} {
			p := netip.PrefixFrom(a, bits)
			checkText(t, "AppendPrefix", AppendPrefix(nil, p), p.String())
		}
	}
}
