// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// startTimeout is the time within which a server must listen.
const startTimeout = 5 * time.Minute

// UnusedAddresses returns n addresses on 127.0.0.1 on which nothing listens.
// Their ports are below the range from which the system chooses ports for
// connections, so that a server can listen again after it was killed.
func UnusedAddresses(n int) (addrs []string, err error) {
	for failures := 0; len(addrs) < n; {
		l, err := net.Listen("tcp",
			net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000))))
		if err != nil {
			if failures++; failures > 1000 {
				return nil, err
			}
			continue // the port is in use
		}
		defer l.Close() // not before all are chosen, which differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}
