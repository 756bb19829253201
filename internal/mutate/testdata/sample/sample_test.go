package sample

import (
	"os"
	"os/exec"
	"testing"
)

func TestClamp(t *testing.T) {
	for n, want := range map[int]int{-1: 0, 1: 1, 9: 5} {
		if got := Clamp(n, 5); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

func TestSum(t *testing.T) {
	if got := Sum([]int{1, 2}); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
}

func TestSign(t *testing.T) {
	for n, want := range map[int]string{-1: "small", 0: "none", 1: "small", 2: "large"} {
		if got := Sign(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestEnd(t *testing.T) {
	if os.Getenv("SAMPLE_CHILD") != "" {
		End()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEnd$")
	cmd.Env = append(os.Environ(), "SAMPLE_CHILD=1")
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 3 {
		t.Errorf("got status %d, want 3", got)
	}
}
