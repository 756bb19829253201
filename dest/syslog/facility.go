// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"fmt"
	"strings"
)

// A Facility is the kind of program that a message comes from (RFC 5424,
// section 6.2.1). 0 belongs to the kernel; in a Config it means the default,
// FacilityUser.
type Facility int

// The facilities, by their numbers.
const (
	FacilityUser Facility = 1 + iota
	FacilityMail
	FacilityDaemon
	FacilityAuth
	FacilitySyslog
	FacilityPrinter
	FacilityNews
	FacilityUUCP
	FacilityCron
	FacilityAuthPriv
	FacilityFTP
	FacilityNTP
	FacilityAudit
	FacilityAlert
	FacilityClock
	FacilityLocal0
	FacilityLocal1
	FacilityLocal2
	FacilityLocal3
	FacilityLocal4
	FacilityLocal5
	FacilityLocal6
	FacilityLocal7
)

var facilityNames = [...]string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
	"ntp", "audit", "alert", "clock",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

// String returns the name that receivers use in their configuration, such as
// "local0".
func (f Facility) String() string {
	if f < 0 || int(f) >= len(facilityNames) {
		return fmt.Sprintf("facility(%d)", int(f))
	}
	return facilityNames[f]
}

// parseFacility returns the facility with a name, in upper or lower case.
func parseFacility(name string) (Facility, error) {
	for f, n := range facilityNames {
		if f > 0 && strings.EqualFold(n, name) {
			return Facility(f), nil
		}
	}
	return 0, fmt.Errorf("nib/syslog: unknown facility %q", name)
}
