// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib/bench/report"
)

func TestEventBuildsAndRunsWithThisRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: this builds a program for each release")
	}
	got, err := Event(runtime.Version(), 1, 50*time.Microsecond, 100)
	if errors.Is(err, ErrNoRelease) {
		t.Skipf("a development build of Go has no release to build with: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, contestant := range []string{"nib", "sync.Pool", "make", "nib-interface"} {
		if ns, ok := got.Get("Event", contestant, report.UnitTime); !ok || ns <= 0 {
			t.Errorf("%s: %v ns, measured %v", contestant, ns, ok)
		}
	}
}

func TestEventWithAnUnknownReleaseIsAnError(t *testing.T) {
	if _, err := Event("go1.nosuch", 1, time.Microsecond, 1); !errors.Is(err, ErrNoRelease) {
		t.Errorf("got %v, want %v", err, ErrNoRelease)
	}
}
