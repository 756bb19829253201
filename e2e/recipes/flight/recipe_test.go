// SPDX-License-Identifier: Apache-2.0

package flight

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
)

var started bool

func TestFailedJobsHaveATrace(t *testing.T) {
	if started {
		t.Skip("a process can start one flight recorder")
	}
	started = true
	policy, err := Policy(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var rec nibtest.Recorder
	log := nib.NewSink(&rec)
	failure := errors.New("broken")
	for _, result := range []error{nil, failure, failure} {
		if err := policy.Run(t.Context(), log, "job", func(context.Context) error { return result }); err != result {
			t.Errorf("got %v, want %v", err, result)
		}
	}
	events := rec.FindAll("job")
	path, _ := events[1]["execution_trace"].(string)
	if events[0]["execution_trace"] != nil || events[2]["execution_trace"] != nil {
		t.Errorf("got %v, want one trace, of the job that failed first", events)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte("go 1.")) {
		t.Errorf("got %d bytes in %q, %v, want an execution trace", len(text), path, err)
	}
}
