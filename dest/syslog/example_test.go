// SPDX-License-Identifier: Apache-2.0

package syslog_test

import (
	"crypto/tls"
	"fmt"

	"github.com/nib-log/nib/dest/syslog"
)

// New does not connect, so it succeeds while the receiver is down. The
// destination is passed to spool.Open, which delivers to it.
func Example() {
	d, err := syslog.New("relp+tls", "logs.example.com:2514", syslog.Config{
		Facility:       "local0",
		AppName:        "shop",
		SequenceID:     "nib@32473", // use the enterprise number of your organization
		StructuredData: `[origin software="shop"]`,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Stats().Connected)
	// Output: false
}

// New returns an error if an argument is invalid. The verification of the
// receiver's certificate cannot be turned off.
func ExampleNew_fault() {
	_, err := syslog.New("tls", "logs.example.com:6514", syslog.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
	fmt.Println(err)
	// Output: nib/syslog: TLS has InsecureSkipVerify; trust a certificate by RootCAs, and give the name in it as ServerName
}
