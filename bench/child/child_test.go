// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"strings"
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

func TestInitTraceIsSummed(t *testing.T) {
	trace := "init internal/bytealg @0.005 ms, 0 ms clock, 0 bytes, 0 allocs\n" +
		"init runtime @0.034 ms, 0.043 ms clock, 0 bytes, 0 allocs\n" +
		"a line of the program, 7 ms clock\n" +
		"init os @0.31 ms, 0.012 ms clock, 416 bytes, 8 allocs\n"
	got, err := sumInits(trace)
	if err != nil || got < 54.9 || got > 55.1 {
		t.Errorf("got %v, %v, want 55", got, err)
	}
	if _, err := sumInits(strings.ToUpper(trace)); err == nil {
		t.Error("a trace without a line that can be read passes")
	}
}

func TestHelloPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, name := range bench.Hellos() {
		h, err := BuildHello(name, 1)
		if err != nil || h.Size < 500_000 || h.Init <= 0 {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}
