// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package setup

import "os"

// hasOtherRights reports whether the environment comes from someone with fewer
// rights than this program has.
func hasOtherRights() bool { return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() }
