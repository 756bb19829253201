// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/binary"
	"testing"
)

func TestFindBuildID(t *testing.T) {
	note := func(name, id string) string {
		b := binary.NativeEndian.AppendUint32(nil, 4)
		b = binary.NativeEndian.AppendUint32(b, uint32(len(id)))
		b = binary.NativeEndian.AppendUint32(b, 4)
		return string(b) + name + "\x00\x00" + id + "\x00"
	}
	for _, tt := range []struct{ name, head, want string }{
		{"ELF", "\x7fELF…" + note("Go", "abc/def") + "more", "abc/def"},
		{"ELF, cut off", note("Go", "abc/def")[:18], "ab"},
		{"marks", "MZ…\xff Go build ID: \"abc/def\"\n \xff…", "abc/def"},
		{"no second mark", "\xff Go build ID: \"abc", ""},
		{"nothing", "", ""},
	} {
		if got := findBuildID([]byte(tt.head)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if buildID() == "" {
		t.Error("this program has a build ID, and got none")
	}
}
