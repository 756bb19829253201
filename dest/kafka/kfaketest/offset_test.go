// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const oldest = -2 // the timestamp that means the first offset

// TestWithinThePackage runs the tests of dest/kafka that need a broker and
// unexported identifiers.
func TestWithinThePackage(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	names := []string{"TestRefusalsOfABatchAreForgotten", "TestAnotherTopicOfTheSameNameHasLanesOfItsOwn", "TestTopicWithFewerPartitions"}
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-run", "^("+strings.Join(names, "|")+")$", "-v", ".")
	c.Dir = ".."
	c.Env = append(os.Environ(), "NIB_TEST_BROKER="+start(t, 2).ListenAddrs()[0])
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range names {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s has not passed:\n%s", name, out)
		}
	}
}

// TestOffsetOutOfRangeWithinThePartition has a broker that refuses an offset
// that it has.
func TestOffsetOutOfRangeWithinThePartition(t *testing.T) {
	c := start(t, 1)
	first := dial(t, c, Config{})
	deliverAll(t, first, 1, 5)
	mark := first.Mark()
	deliverAll(t, first, 6, 10)
	_ = first.Close()
	d := dial(t, c, Config{})
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.OffsetOutOfRange, Count: -1})
	c.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.ListOffsetsRequest)
		if r.Topics[0].Partitions[0].Timestamp != oldest {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		st, sp := kmsg.NewListOffsetsResponseTopic(), kmsg.NewListOffsetsResponseTopicPartition()
		st.Topic, sp.Offset = logs, 5 // where the search begins
		st.Partitions = append(st.Partitions, sp)
		resp.Topics = append(resp.Topics, st)
		return resp, nil, true
	})
	if _, err := d.Resume(t.Context(), mark, records(7, 6, 10)); !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Errorf("got %v, want OFFSET_OUT_OF_RANGE", err)
	}
}
