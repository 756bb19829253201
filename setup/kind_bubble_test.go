// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package setup

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/target"
)

// A destination that is down delays the end by half of Timeout, and its lines
// stay in the spool.
func TestLinesOfADestinationThatIsDownStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, err := Open(Config{
			Output: []string{"fake://down:1/logs?spool=" + dir}, Kinds: []target.Spec{fakeKind},
			Signals: SwitchOff, Reopen: SwitchOff, Timeout: 4 * time.Second,
		})
		must.Succeed(t, err)
		f := opened.of("down:1")
		f.FailWith(context.DeadlineExceeded)
		l.Info().Msg("m")
		begin := time.Now()
		errText := reports(l)
		err = l.Close()
		if took := time.Since(begin); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("Close took %v, want 2 s", took)
		}
		if err == nil || !strings.Contains(err.Error(), spool.ErrPending.Error()) || !strings.Contains(*errText, "output fake://down:1/logs") {
			t.Errorf("got %v, reported %q", err, *errText)
		}
		views, err := spool.Find(dir)
		if err != nil || len(views) != 1 {
			t.Fatalf("got %q, %v", views, err)
		}
		if v, err := spool.Inspect(views[0]); err != nil || v.Pending("destination") != 1 {
			t.Errorf("got %+v, %v, want one line", v, err)
		}
	})
}
