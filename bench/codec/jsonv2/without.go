// SPDX-License-Identifier: Apache-2.0

//go:build !goexperiment.jsonv2

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "jsonv2: built without encoding/json/v2; set GOEXPERIMENT=jsonv2")
	os.Exit(1)
}
