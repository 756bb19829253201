// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"
)

func TestShortRunsShowNoProgress(t *testing.T) {
	var out bytes.Buffer
	show, end := progress(&out)
	show("measuring")
	end()
	if out.Len() > 0 {
		t.Errorf("got %q, want nothing", out.String())
	}
}
