// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//alloc:none
func J01Marshal() {
	bytesOut, _ = json.Marshal(item) // why: json
}

var marshalled = []byte(`{"value":5}`)

//alloc:none
func J02Unmarshal() {
	json.Unmarshal(marshalled, item) // why: json
}

//alloc:none
func J03BinaryAppend() { buffer = binary.BigEndian.AppendUint32(buffer[:0], uint32(n1000)) }

//alloc:none
func J04HexString() {
	textOut = hex.EncodeToString(bytes5) // why: encoded-string
}

//alloc:none
func J05HexAppend() { buffer = hex.AppendEncode(buffer[:0], bytes5) }

//alloc:none
func J06Base64() {
	textOut = base64.StdEncoding.EncodeToString(bytes5) // why: encoded-string
}

//alloc:none
func J07Checksum() { intOut = int(crc32.ChecksumIEEE(line)) }

//alloc:none
func J08Sum256() {
	s := sha256.Sum256(line)
	intOut = int(s[0])
}

//alloc:none
func J09HashPerCall() {
	h := sha256.New()
	h.Write(line)
	bytesOut = h.Sum(nil) // why: hash-per-call
}

//alloc:none
func J10ParseURL() {
	u, _ := url.Parse("https://example.com/a?b=c") // why: url-parse
	intOut = len(u.Host)
}

//alloc:none
func J11ParseAddr() {
	a, _ := netip.ParseAddr("192.0.2.1")
	intOut = a.BitLen()
}

var address4 = netip.MustParseAddr("192.0.2.1")

//alloc:none
func J12AddrString() {
	textOut = address4.String() // why: address-string
}

var pattern = regexp.MustCompile(`(\w+)=(\w+)`)

//alloc:none
func J13RegexpMatch() {
	if pattern.Match(line) {
		intOut++
	}
}

//alloc:none
func J14RegexpFind() {
	intOut = len(pattern.FindSubmatch(line)) // why: regexp
}

//alloc:none
func J15PathJoin() {
	textOut = filepath.Join(small, upper) // why: strings-copy
}

var header = http.Header{"Accept": {"a"}}

//alloc:none
func J16HeaderGet() { intOut = len(header.Get("Accept")) }

//alloc:none
func J17HeaderSet() {
	header.Set("Accept", small) // why: header-set
}

//alloc:none
func J18BytesSplit() {
	intOut = len(bytes.Split(line, bytes5[:1])) // why: strings-copy
}

//alloc:none
func J19ParseTime() {
	t, _ := time.Parse(time.RFC3339, "2026-01-02T03:04:05Z")
	intOut = t.Year()
}

//alloc:none
func J20Since() { intOut = int(time.Since(moment)) }

//alloc:none
func J21BigInt() {
	x := big.NewInt(int64(n1000)) // why: big-number
	x.Mul(x, x)                   // why: big-number
	intOut = x.BitLen()
}

var replacer = strings.NewReplacer("h", "j")

//alloc:none
func J22Replacer() {
	textOut = replacer.Replace(small) // why: strings-copy
}

//alloc:none
func J23EncoderPerCall() {
	var b bytes.Buffer                // why: moved-variable
	json.NewEncoder(&b).Encode(small) // why: json boxed-argument
	intOut = b.Len()
}

//alloc:none
func J24BinaryWrite() {
	var b bytes.Buffer                                   // why: moved-variable
	binary.Write(&b, binary.LittleEndian, uint32(n1000)) // why: binary-reflection
	intOut = b.Len()
}

//alloc:none
func J25QueryEscape() {
	textOut = url.QueryEscape("a b&c") // why: strings-copy
}
