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
	main := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: program, Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
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
		{"revision", program, main("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), "(devel 0123456789ab)"},
		{"revision with changes", program, main("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "(devel 0123456789ab) with changes"},
		{"revision as a version", program, main("v0.0.0-20261122134316-0123456789ab+dirty"), "v0.0.0-20261122134316-0123456789ab+dirty"},
		{"dependency", module, with(main("v0.2.0"), debug.Module{Path: module, Version: "v0.1.0"}), "v0.1.0"},
		{"dependency in the same checkout", module, with(main("(devel)", revision), debug.Module{Path: module, Version: "v0.1.0", Replace: &debug.Module{Path: "../../allocs"}}), "(devel 0123456789ab)"},
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
