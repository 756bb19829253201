// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
)

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

// patient waits when the disk is busy, instead of dropping lines.
var patient = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: 10 * time.Minute}}

// full reports whether tests run at full length.
func full() bool { return os.Getenv("NIB_E2E") == "full" }
