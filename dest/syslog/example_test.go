// SPDX-License-Identifier: Apache-2.0

package syslog_test

import (
	"crypto/tls"
	"fmt"

	"github.com/nib-log/nib/dest/syslog"
)

// A destination is made whether or not the receiver is there. It is given to spool.Open,
// which delivers to it.
func Example() {
	d, err := syslog.New("relp+tls", "logs.example.com:2514", syslog.Config{
		Facility:   syslog.FacilityLocal0,
		AppName:    "shop",
		SequenceID: "nib@32473", // use the enterprise number of your organization
		StructuredData: []syslog.DataElement{
			{ID: "origin", Params: []syslog.Param{{Name: "software", Value: "shop"}}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Stats().Connected)
	// Output: false
}

// What is wrong with the arguments is an error at once, and the check of the receiver's
// certificate cannot be turned off.
func ExampleNew_fault() {
	_, err := syslog.New("tls", "logs.example.com:6514", syslog.Config{TLS: &tls.Config{InsecureSkipVerify: true}})
	fmt.Println(err)
	// Output: nib/syslog: TLS has InsecureSkipVerify; trust a certificate by RootCAs, and give the name in it as ServerName
}
