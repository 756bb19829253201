// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
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
	return versionIn(info, module) + " " + runtime.Version() + " " + runtime.GOOS + "/" +
		runtime.GOARCH
}

// versionIn returns the version of a module. In a program that is built from a
// checkout, the go command makes it of the revision.
func versionIn(info *debug.BuildInfo, module string) string {
	for _, dep := range info.Deps {
		if dep.Path == module && dep.Replace == nil {
			return dep.Version
		}
	}
	return cmp.Or(info.Main.Version, "(devel)")
}
