// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"testing"
)

func TestIntegers(t *testing.T) {
	values := []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	for p := uint64(1); ; p *= 10 {
		for d := uint64(0); d < 3; d++ {
			values = append(values, p-1+d, p*5-1+d)
		}
		if p > math.MaxUint64/10 {
			break
		}
	}
	for v := range uint64(2000) {
		values = append(values, v)
	}
	for i := range 64 {
		values = append(values, 1<<i, 1<<i-1)
	}
	for _, v := range values {
		for _, dst := range [][]byte{nil, []byte("x"), make([]byte, 1, 64)} {
			want := string(dst) + strconv.FormatUint(v, 10)
			if got := string(AppendUint(dst, v)); got != want {
				t.Errorf("AppendUint(%q, %d) = %s, want %s", dst, v, got, want)
			}
			want = string(dst) + `,"key":` + strconv.FormatUint(v, 10)
			if got := string(AppendKeyUint(dst, "key", v)); got != want {
				t.Errorf("AppendKeyUint(%q, %d) = %s, want %s", dst, v, got, want)
			}
			for _, i := range []int64{int64(v), -int64(v)} {
				want := string(dst) + strconv.FormatInt(i, 10)
				if got := string(AppendInt(dst, i)); got != want {
					t.Errorf("AppendInt(%q, %d) = %s, want %s", dst, i, got, want)
				}
				want = string(dst) + `,"key":` + strconv.FormatInt(i, 10)
				if got := string(AppendKeyInt(dst, "key", i)); got != want {
					t.Errorf("AppendKeyInt(%q, %d) = %s, want %s", dst, i, got, want)
				}
			}
		}
	}
}

func TestBool(t *testing.T) {
	if got := string(AppendBool(AppendBool(nil, true), false)); got != "truefalse" {
		t.Errorf("got %s, want truefalse", got)
	}
}

func TestBinaryText(t *testing.T) {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	for n := range len(b) {
		for _, dst := range [][]byte{nil, []byte("x"), make([]byte, 1, 1000)} {
			in := b[len(b)-n:]
			if got, want := AppendHex(dst, in), `"`+hex.EncodeToString(in)+`"`; string(got) != string(dst)+want {
				t.Errorf("AppendHex(%x) = %s, want %s", in, got, want)
			}
			if got, want := AppendBase64(dst, in), `"`+base64.StdEncoding.EncodeToString(in)+`"`; !bytes.Equal(got, append(dst, want...)) {
				t.Errorf("AppendBase64(%x) = %s, want %s", in, got, want)
			}
		}
	}
}
