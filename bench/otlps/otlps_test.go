// SPDX-License-Identifier: Apache-2.0

package otlps

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Dispatch()
	os.Exit(m.Run())
}

// All contestants deliver all records; their cost is measured.
func TestEveryRecordArrives(t *testing.T) {
	r := NewReceiver()
	defer r.Close()
	for i := range Contestants {
		c := &Contestants[i]
		cost, err := c.Measure(r, 1)
		if err != nil || cost.Records != Burst || cost.Burst <= 0 || cost.CPU <= 0 {
			t.Errorf("%s: got %+v and %v", c.Name, cost, err)
		}
	}
}
