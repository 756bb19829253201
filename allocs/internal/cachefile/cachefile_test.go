// SPDX-License-Identifier: Apache-2.0

package cachefile

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "a.json")
	var got []int
	if Read(name, &got) || Read("", &got) {
		t.Errorf("read %v before it was written", got)
	}
	Write("", []int{1})
	Write(name, make(chan int)) // not JSON
	Write(name, []int{1, 2})
	if !Read(name, &got) || len(got) != 2 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
	if err := os.WriteFile(name, []byte("[1,"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Read(name, &got) {
		t.Error("read a damaged file")
	}
	if entries, err := os.ReadDir(filepath.Dir(name)); len(entries) != 1 || err != nil {
		t.Errorf("got %v and error %v, want one file", entries, err)
	}
}

func TestConcurrentWritesAreWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.json")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				Write(name, make([]int, 1000*i))
				var got []int
				if !Read(name, &got) || len(got)%1000 != 0 {
					t.Errorf("got %d numbers", len(got))
				}
			}
		}()
	}
	wg.Wait()
}
