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

// guiding is the first release whose go command selects profiles itself and
// whose compiler uses them to devirtualize calls.
const guiding = 21

// Guides reports whether the go command uses the default.pgo of a main package
// by default.
func (t *Toolchain) Guides() bool { return t.Minor() >= guiding && t.PGO == "" }

// Guide makes all further builds use a profile, or none when it is "off"; ""
// leaves it to the go command.
func (t *Toolchain) Guide(profile string) error {
	if profile == "" {
		return nil
	}
	if t.Minor() < guiding {
		return fmt.Errorf("%w: %s: it takes Go 1.%d or newer", ErrProfile, t.Version, guiding)
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
