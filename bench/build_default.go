// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast

package bench

// Build names the build of nib that this program contains, and with it the
// result file.
const Build = "default"

// BuildTags are the tags that the programs below hello are built with.
const BuildTags = ""
