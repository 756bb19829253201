// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"testing"

	"github.com/nib-log/nib/bench"
)

func TestMain(m *testing.M) {
	Dispatch()
	m.Run()
}

func TestDrainReadsEverything(t *testing.T) {
	d, err := StartDrain()
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), 1000)
	for range 1000 { // far more than a pipe holds
		if _, err := d.W.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestEveryServiceAnswersAllRequests(t *testing.T) {
	for _, s := range bench.Services() {
		t.Run(s.Name, func(t *testing.T) {
			got, err := Service(s.Name, 4, 100)
			if err != nil {
				t.Fatal(err)
			}
			if got.Requests != 100 || got.PerSecond <= 0 || got.CPU <= 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestUnknownServiceIsAnError(t *testing.T) {
	if _, err := Service("nosuch", 1, 1); err == nil {
		t.Error("no error")
	}
}
