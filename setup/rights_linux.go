// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/binary"
	"math/bits"
	"os"
)

// atSecure is the entry of auxv that reports whether the program has rights
// that the process which started it did not have: set-uid, set-gid, file
// capabilities, or a security module (getauxval(3)).
const atSecure = 23

// hasOtherRights reports whether the environment comes from a user with fewer
// rights than this program has. It assumes so if there is no /proc. (In a
// program with file capabilities auxv cannot be read.)
func hasOtherRights() bool {
	auxv, err := os.ReadFile("/proc/self/auxv")
	return err != nil || isSecure(auxv)
}

func isSecure(auxv []byte) bool {
	const word = bits.UintSize / 8
	for ; len(auxv) >= 2*word; auxv = auxv[2*word:] {
		if readWord(auxv) == atSecure {
			return readWord(auxv[word:]) != 0
		}
	}
	return true
}

func readWord(b []byte) uint64 {
	if bits.UintSize == 32 {
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}
