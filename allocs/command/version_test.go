// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	const program = "github.com/nib-log/nib/cmd/nib"
	main := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: program, Version: version}}
	}
	with := func(info *debug.BuildInfo, dep debug.Module) *debug.BuildInfo {
		info.Deps = append(info.Deps, &debug.Module{Path: "example.com/other", Version: "v9.0.0"}, &dep)
		return info
	}
	for _, c := range []struct {
		name, module string
		info         *debug.BuildInfo
		want         string
	}{
		{"released", program, main("v0.1.0"), "v0.1.0"},
		{"no build information", program, &debug.BuildInfo{}, "(devel)"},
		{"checkout", program, main("(devel)"), "(devel)"},
		{"revision as a version", program, main("v0.0.0-20261122134316-0123456789ab+dirty"), "v0.0.0-20261122134316-0123456789ab+dirty"},
		{"dependency", module, with(main("v0.2.0"), debug.Module{Path: module, Version: "v0.1.0"}), "v0.1.0"},
		{"dependency in the same checkout", module, with(main("(devel)"), debug.Module{Path: module, Version: "v0.1.0", Replace: &debug.Module{Path: "../../allocs"}}), "(devel)"},
	} {
		if got := versionIn(c.info, c.module); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Run([]string{"--version"}, &stdout, &stderr)
	if got := stdout.String(); code != 0 || !strings.HasPrefix(got, "allocs ") || !strings.HasSuffix(got, " "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n") {
		t.Errorf("got code %d, %q, %q", code, got, &stderr)
	}
}
