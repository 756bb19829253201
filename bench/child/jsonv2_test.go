// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"testing"
	"time"

	"github.com/nib-log/nib/bench/report"
)

func TestJSONv2IsMeasuredInAProcessOfItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: this builds a part of the standard library anew")
	}
	got, err := JSONv2(1, 20*time.Microsecond, 16)
	if errors.Is(err, ErrNoJSONv2) {
		t.Skipf("this toolchain has no encoding/json/v2: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, scenario := range []string{"JSONStructV2", "JSONMapV2"} {
		for _, c := range []string{"nib", "encoding/json/v2", "encoding/json"} {
			if ns, ok := got.Get(scenario, c, report.UnitTime); !ok || ns <= 0 {
				t.Errorf("%s, %s: %v ns, %v", scenario, c, ns, ok)
			}
		}
	}
}
