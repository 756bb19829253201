// SPDX-License-Identifier: Apache-2.0

package load

import (
	"os"
	"path/filepath"
)

// Profile returns the file that guides the build of a main package by default,
// or "".
func (p *Package) Profile() string {
	name := filepath.Join(p.Dir, "default.pgo")
	if info, err := os.Stat(name); p.Name != "main" || err != nil || info.IsDir() {
		return ""
	}
	return name
}
