// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"testing"
	"time"
)

// A laggard is a port whose reader makes room after some attempts.
type laggard struct{ full, attempts int }

func (p *laggard) Write(b []byte) (int, error) {
	if p.attempts++; p.attempts <= p.full {
		return 0, ErrFull
	}
	return len(b), nil
}

func (p *laggard) Wait(time.Duration) bool { return false }

// TestLastAttemptFollowsTheDeadline has deadlines that have passed after the
// first attempt, as when the process was stopped, or that pass in the wait.
func TestLastAttemptFollowsTheDeadline(t *testing.T) {
	for _, until := range []time.Time{{}, time.Now().Add(time.Hour)} {
		n, err := writeWithin(&laggard{full: 1}, make([]byte, 5), until)
		if n != 5 || err != nil {
			t.Errorf("room after one attempt: got %d, %v, want 5", n, err)
		}
		p := &laggard{full: 100}
		n, err = writeWithin(p, make([]byte, 5), until)
		if n != 0 || err != ErrStalled || p.attempts != 2 {
			t.Errorf("no room: got %d, %v after %d attempts, want %v after 2",
				n, err, p.attempts, ErrStalled)
		}
	}
}
