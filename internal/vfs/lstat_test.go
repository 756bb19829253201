// SPDX-License-Identifier: Apache-2.0

package vfs

import "runtime"

// lstatIsFree says whether Lstat does without allocations.
const lstatIsFree = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
