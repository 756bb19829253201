// SPDX-License-Identifier: Apache-2.0

package vfs

import "runtime"

// lstatIsFree reports whether Lstat does not allocate.
const lstatIsFree = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
