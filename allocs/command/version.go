// SPDX-License-Identifier: Apache-2.0

package command

import (
	"runtime"
	"runtime/debug"
)

const module = "github.com/nib-log/nib/allocs"

// Version returns the version of a module in this program, its Go release and
// its target, such as "v0.1.0 go1.26.8 linux/amd64".
func Version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return versionIn(info, module) + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}

// versionIn returns the version of a module. In a program without one, such as
// one built from a checkout, it is the revision.
func versionIn(info *debug.BuildInfo, module string) string {
	for _, dep := range info.Deps {
		if dep.Path == module && dep.Replace == nil {
			return dep.Version
		}
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version := "(devel)"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			version = "(devel " + s.Value[:min(len(s.Value), 12)] + ")"
		case s.Key == "vcs.modified" && s.Value == "true":
			version += " with changes"
		}
	}
	return version
}
