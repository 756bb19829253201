// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/hex"
	"net"
	"net/netip"
)

// AppendIP appends the text of ip.String, quoted, and null for an empty ip.
func AppendIP(dst []byte, ip net.IP) []byte {
	if len(ip) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = appendIPText(dst, ip)
	return append(dst, '"')
}

// appendIPText appends the text of ip.String for an ip that is not empty.
func appendIPText(dst []byte, ip net.IP) []byte {
	if v4 := ip.To4(); v4 != nil {
		return netip.AddrFrom4([4]byte(v4)).AppendTo(dst)
	}
	if len(ip) == net.IPv6len {
		return netip.AddrFrom16([16]byte(ip)).AppendTo(dst)
	}
	return hex.AppendEncode(append(dst, '?'), ip)
}

// AppendIPNet appends the text of n.String, quoted.
func AppendIPNet(dst []byte, n net.IPNet) []byte {
	ip, mask := n.IP, n.Mask
	if v4 := ip.To4(); v4 != nil {
		ip = v4
		if len(mask) == net.IPv6len {
			mask = mask[net.IPv6len-net.IPv4len:]
		}
	}
	// An IPv4 mask does not apply to an IPv6 address; String calls that nil.
	if len(ip) != net.IPv4len && len(ip) != net.IPv6len || len(mask) != len(ip) {
		return append(dst, "\"<nil>\""...)
	}
	dst = append(dst, '"')
	dst = appendIPText(dst, ip)
	dst = append(dst, '/')
	// Size reports 0, 0 for a mask that is not ones followed by zeros.
	if ones, size := mask.Size(); size != 0 {
		dst = AppendUint(dst, uint64(ones))
	} else {
		dst = hex.AppendEncode(dst, mask)
	}
	return append(dst, '"')
}

// AppendMAC appends the text of mac.String, quoted.
func AppendMAC(dst []byte, mac net.HardwareAddr) []byte {
	dst = append(dst, '"')
	for i, c := range mac {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, '"')
}

// AppendAddr appends the text of a.String, quoted.
func AppendAddr(dst []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return append(dst, "\"invalid IP\""...)
	}
	dst = append(dst, '"')
	dst = appendAddrText(dst, a)
	return append(dst, '"')
}

// appendAddrText appends the text of a valid address. A zone may hold any text.
func appendAddrText(dst []byte, a netip.Addr) []byte {
	zone := a.Zone()
	if zone == "" {
		return a.AppendTo(dst)
	}
	dst = a.WithZone("").AppendTo(dst)
	dst = append(dst, '%')
	return appendText(dst, zone)
}

// AppendAddrPort appends the text of p.String, quoted.
func AppendAddrPort(dst []byte, p netip.AddrPort) []byte {
	a := p.Addr()
	if !a.IsValid() {
		return append(dst, "\"invalid AddrPort\""...)
	}
	dst = append(dst, '"')
	if a.Is4() {
		dst = a.AppendTo(dst)
	} else {
		dst = append(dst, '[')
		dst = appendAddrText(dst, a)
		dst = append(dst, ']')
	}
	dst = append(dst, ':')
	dst = AppendUint(dst, uint64(p.Port()))
	return append(dst, '"')
}

// AppendPrefix appends the text of p.String, quoted.
func AppendPrefix(dst []byte, p netip.Prefix) []byte {
	if !p.IsValid() {
		return append(dst, "\"invalid Prefix\""...)
	}
	dst = append(dst, '"')
	dst = p.AppendTo(dst)
	return append(dst, '"')
}
