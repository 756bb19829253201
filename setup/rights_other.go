// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package setup

import "os"

// hasOtherRights reports whether the environment comes from a user with fewer
// rights than this program has.
func hasOtherRights() bool { return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() }
