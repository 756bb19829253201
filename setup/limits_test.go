// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

func TestHostInAPath(t *testing.T) {
	for host, want := range map[string]string{
		"web-1": "/var/log/web-1/app.log", "web-1.org": "/var/log/web-1.org/app.log",
		"...": "/var/log/.../app.log",
		"":    "", ".": "", "..": "", "a/b": "", `a\b`: "", "a\x00b": "",
	} {
		known := func() (string, error) { return host, nil }
		got, err := expandPath("/var/log/{host}/app.log", known)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", host, got, err, want)
		}
	}
	unknown := func() (string, error) { return "", errors.New("no name") }
	if got, err := expandPath("/var/log/{host}", unknown); err == nil {
		t.Errorf("without a name: got %q, want an error", got)
	}
	want := "/var/log/" + strconv.Itoa(os.Getpid())
	if got, err := expandPath("/var/log/{pid}", unknown); got != want || err != nil {
		t.Errorf("{pid}: got %q, %v, want %q", got, err, want)
	}
}

func TestLevelsOfLambda(t *testing.T) {
	for level, want := range map[nib.Level]string{
		nib.LevelFatal: "FATAL", nib.LevelPanic: "FATAL",
		nib.LevelPanic - 1: "ERROR", nib.LevelError: "ERROR",
		nib.LevelError - 1: "WARN", nib.LevelWarn: "WARN",
		nib.LevelWarn - 1: "INFO", nib.LevelInfo: "INFO",
		nib.LevelInfo - 1: "DEBUG", nib.LevelDebug: "DEBUG", nib.LevelDebug - 1: "TRACE",
	} {
		if got := lambdaLevel(level); got != want {
			t.Errorf("%v: got %s, want %s", level, got, want)
		}
	}
}

func TestWaitOfARule(t *testing.T) {
	for text, want := range map[string]bool{
		"block:1ns": true, "block:0s": false, "block:-1ns": false, "block:": false, "block": false,
	} {
		if r, ok := fullRule(text); ok != want {
			t.Errorf("%s: got %+v, %v, want %v", text, r, ok, want)
		}
	}
}

func TestLongestJSON(t *testing.T) {
	for size, want := range map[int]bool{maxJSON: true, maxJSON + 1: false} {
		var r reading
		text := "{}" + strings.Repeat(" ", size-len("{}"))
		readJSON(strings.NewReader(text), "", &r)
		if err := errors.Join(r.list...); (err == nil) != want {
			t.Errorf("%d bytes: got %v, want valid: %v", size, err, want)
		}
	}
}
