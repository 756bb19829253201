// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"slices"
	"strings"
)

// facilities are the names that receivers use in their configuration, by the
// numbers of RFC 5424, section 6.2.1. 0 belongs to the kernel.
var facilities = [...]string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
	"ntp", "audit", "alert", "clock",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

// facilityOf returns the number of a facility, in upper or lower case, or -1.
func facilityOf(name string) int {
	if i := slices.Index(facilities[:], strings.ToLower(name)); i > 0 {
		return i
	}
	return -1
}
