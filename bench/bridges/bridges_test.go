// SPDX-License-Identifier: Apache-2.0

package bridges

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/codec"
)

func TestAllWriteTheSame(t *testing.T) {
	for _, s := range Scenarios() {
		if s.Want != "" {
			if err := codec.Check(&s); err != nil {
				t.Error(err)
			}
			continue
		}
		for _, c := range s.Contestants { // the forms of call sites differ
			var b bytes.Buffer
			c.New(&b)(1)
			if !json.Valid(b.Bytes()) || !strings.Contains(b.String(), "bridges.go:") {
				t.Errorf("%s, %s: got %s, want a call site in this package", s.Name, c.Name, &b)
			}
		}
	}
}
