// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"os"
	"strconv"
	"testing"
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
