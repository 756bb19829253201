// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"encoding/json"
	"os"
	"testing"
)

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

// full says whether tests run at full length.
func full() bool { return os.Getenv("NIB_E2E") == "full" }
