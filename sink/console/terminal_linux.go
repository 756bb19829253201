// SPDX-License-Identifier: Apache-2.0

package console

import "syscall"

const getTermios = syscall.TCGETS
