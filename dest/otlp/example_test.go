// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"fmt"

	"github.com/nib-log/nib/dest/otlp"
)

func ExampleNew() {
	_, err := otlp.New("collector:4318", otlp.Config{MaxRequest: -1})
	fmt.Println(err)
	out, err := otlp.New("http://collector:4318/v1/logs", otlp.Config{Compression: "gzip"})
	if err != nil {
		return
	}
	defer out.Close()
	fmt.Println(out.Stats())
	// Output:
	// nib/otlp: MaxRequest is not from 0 to 67108864: -1
	// {0 0 0 0 0 0}
}
