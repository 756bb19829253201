// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestUnusedAddressesAreNotThoseOfConnections(t *testing.T) {
	low := 49152
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if _, err := fmt.Sscan(string(text), &low); err != nil {
			t.Fatal(err)
		}
	}
	if low < 32768 {
		t.Skipf("connections have ports from %d on", low)
	}
	addrs, err := UnusedAddresses(500)
	if err != nil || len(addrs) != 500 {
		t.Fatalf("got %d addresses, %v", len(addrs), err)
	}
	seen := map[string]bool{}
	for _, addr := range addrs {
		_, text, err := net.SplitHostPort(addr)
		var port int
		if _, e := fmt.Sscan(text, &port); err != nil || e != nil || port >= low || seen[addr] || !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Errorf("got %s, want a port below %d, once", addr, low)
		}
		seen[addr] = true
	}
}
