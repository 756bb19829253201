// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

var benchTexts = []struct{ name, key, val string }{
	{"short", "key", "short value"},
	{"ascii200", "message", strings.Repeat("The quick brown fox jumps over the lazy dog. ", 5)[:200]},
	{"chinese", "message", strings.Repeat("用户登录失败,请检查您的密码。", 5)},
	{"japanese", "message", strings.Repeat("ユーザーのログインに失敗しました。再試行", 4)},
	{"korean", "message", strings.Repeat("사용자 로그인에 실패했습니다. 다시 시도하세요. ", 4)},
	{"french", "message", strings.Repeat("L'élève a été reçu à l'école en été, déjà. ", 5)},
	{"russian", "message", strings.Repeat("Пользователь не найден, попробуйте снова. ", 4)},
	{"emoji", "message", strings.Repeat("done 🎉 well 👍🏽 ok 🙂🙃! ", 6)},
	{"escapes10", "message", strings.Repeat("line one\n\"quoted\" \t x", 10)},
}

func BenchmarkAppendKeyString(b *testing.B) {
	dst := make([]byte, 0, 4096)
	for _, tt := range benchTexts {
		b.Run("nib/"+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.key) + len(tt.val)))
			for b.Loop() {
				dst = AppendKeyString(dst[:0], tt.key, tt.val)
			}
		})
	}
}

func BenchmarkOrientation(b *testing.B) {
	dst := make([]byte, 0, 4096)
	for _, tt := range benchTexts {
		b.Run("strconv/"+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.key) + len(tt.val)))
			for b.Loop() {
				dst = strconv.AppendQuote(append(strconv.AppendQuote(append(dst[:0], ','), tt.key), ':'), tt.val)
			}
		})
		b.Run("json/"+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.key) + len(tt.val)))
			for b.Loop() {
				_, _ = json.Marshal(tt.val)
			}
		})
	}
}
