// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"slices"
	"testing"
)

func TestSplitTargets(t *testing.T) {
	for list, want := range map[string][]string{
		"":                                     {""},
		"stdout,stderr":                        {"stdout", "stderr"},
		"stdout,b:1":                           {"stdout", "b:1"},
		"kafka://a:1,b:2,c:3/l?x=1,d:4":        {"kafka://a:1,b:2,c:3/l?x=1", "d:4"},
		"kafka://[::1]:1,[::2]:2/l,file:/x":    {"kafka://[::1]:1,[::2]:2/l", "file:/x"},
		"syslog+tcp://a:1,stdout":              {"syslog+tcp://a:1", "stdout"},
		"syslog+tcp://a:1,file:/x":             {"syslog+tcp://a:1", "file:/x"},
		"syslog+tcp://a:1,syslog+tcp://b:1":    {"syslog+tcp://a:1", "syslog+tcp://b:1"},
		"file:///x,b:1":                        {"file:///x", "b:1"},
		"kafka://a:1,b/l":                      {"kafka://a:1", "b/l"},
		"file:a%2Cb,kafka://a:1/l?spool=/x,,y": {"file:a%2Cb", "kafka://a:1/l?spool=/x", "", "y"},
	} {
		if got, err := SplitTargets(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", list, got, err, want)
		}
	}
}
