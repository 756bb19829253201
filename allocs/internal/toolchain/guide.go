// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrProfile means that builds cannot use a profile.
var ErrProfile = errors.New("no profile-guided optimisation")

// Guides reports whether the go command uses the default.pgo of a main package
// by default.
func (t *Toolchain) Guides() bool { return t.PGO == "" }

// Guide makes all further builds use a profile, or none when it is "off"; ""
// leaves it to the go command.
func (t *Toolchain) Guide(profile string) error {
	if profile == "" {
		return nil
	}
	if profile != "off" {
		info, err := os.Stat(profile)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrProfile, err)
		}
		if !info.Mode().IsRegular() || strings.ContainsAny(profile, "'\n") {
			return fmt.Errorf("%w: %s: it takes a file without quotes in its name", ErrProfile, profile)
		}
	}
	t.PGO = profile
	return nil
}
