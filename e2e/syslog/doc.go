// SPDX-License-Identifier: Apache-2.0

// Package syslog tests dest/syslog with a real rsyslog: the messages that
// arrive, the rate, and the messages that are lost when it dies or the network
// fails.
//
//	apt-get install -y --no-install-recommends rsyslog rsyslog-relp rsyslog-gnutls iproute2
//	go test -v ./syslog                # short counts
//	NIB_E2E=full go test -v ./syslog   # full counts
//
// Tests that cannot run are skipped with the reason.
package syslog
