// SPDX-License-Identifier: Apache-2.0

package progress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/progress"
)

// work goes through all stages of a toolchain with n packages to run.
func work(x *progress.Part, n int) {
	for _, s := range []progress.Stage{progress.Compile, progress.Canary, progress.Compiler, progress.Link} {
		x.Start(s, "")
	}
	x.Packages(n)
	for i := range n {
		x.Start(progress.Measure, fmt.Sprint(i))
		x.Start(progress.Visit, fmt.Sprint(i))
	}
	x.Start(progress.Decide, "")
	x.Start(progress.Calls, "")
	x.End()
}

func TestTheShareOnlyRises(t *testing.T) {
	for _, toolchains := range []int{1, 3} {
		for _, packages := range []int{0, 1, 20} {
			last := progress.Event{Done: -1}
			p := progress.New(func(e progress.Event) {
				if e.Done < last.Done || e.Done > 1 {
					t.Errorf("%d toolchains, %d packages: %v after %v", toolchains, packages, e, last)
				}
				last = e
			})
			p.Once(progress.Source, "")
			for _, x := range p.Toolchains(make([]string, toolchains)) {
				work(x, packages)
			}
			p.Once(progress.Decide, "")
			if last.Done < 0.999 {
				t.Errorf("%d toolchains, %d packages: got %v at the end, want 1", toolchains, packages, last.Done)
			}
		}
	}
}

func TestEachStageMovesOn(t *testing.T) {
	var got []string
	p := progress.New(func(e progress.Event) { got = append(got, fmt.Sprintf("%s %.0f", e.Stage, 100*e.Done)) })
	p.Once(progress.Source, "")
	work(p.Toolchains([]string{"go1.26.8"})[0], 2)
	want := "reading the source 0, compiling 4, trying the canary 16, asking the compiler 23, linking 35, " +
		"measuring 48, seeing which lines are run 62, measuring 66, seeing which lines are run 80, deciding 85, following dynamic calls 88"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestToolchainsAtTheSameTime(t *testing.T) {
	last := 0.0
	p := progress.New(func(e progress.Event) { last = e.Done })
	parts := p.Toolchains([]string{"a", "b", "c", "d"})
	done := make(chan bool)
	for _, x := range parts {
		go func() {
			work(x, 3)
			done <- true
		}()
	}
	for range parts {
		<-done
	}
	p.Once(progress.Decide, "")
	if last < 0.999 {
		t.Errorf("got %v at the end, want 1", last)
	}
}
