// SPDX-License-Identifier: Apache-2.0

package level

// Severity returns the severity of syslog for a level (RFC 5424, section
// 6.2.1). It is never 0, emergency: receivers write that to the terminals of
// all users.
func Severity(l int) int {
	switch {
	case l < 0:
		return 7 // debug
	case l < 2:
		return 6 // informational
	case l < 4:
		return 5 // notice
	case l < 8:
		return 4 // warning
	case l < 12:
		return 3 // error
	case l < 16:
		return 2 // critical
	}
	return 1 // alert
}
