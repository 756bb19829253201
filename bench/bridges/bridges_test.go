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
		for _, c := range s.Contestants { // the forms of call sites, RPCs and records differ
			var b bytes.Buffer
			c.New(&b)(1)
			text, want := b.String(), ""
			switch {
			case strings.HasSuffix(s.Name, "Caller"):
				want = "bridges.go:"
			case s.Name == "BridgeRPC":
				want = `"cart":"c7","items":3`
			case s.Name == "BridgeOTelIn":
				want = path
			case text == "": // BridgeOTelOut, whose records otel_test.go compares
				continue
			}
			if !json.Valid(b.Bytes()) || !strings.Contains(text, want) {
				t.Errorf("%s, %s: got %s, want a line with %s", s.Name, c.Name, text, want)
			}
		}
	}
}
