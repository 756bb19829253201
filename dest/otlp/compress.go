// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"github.com/klauspost/compress/zstd"
	"github.com/nib-log/nib/delivery/httpsend"
)

// compressor returns the Content-Encoding of a codec, and a function that
// appends src, compressed, to dst. The function reuses its memory, so it must
// not be called concurrently.
func compressor(name string) (encoding string, compress func(dst, src []byte) ([]byte, error), err error) {
	switch name {
	case "gzip":
		return "gzip", httpsend.Gzip(), nil
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return "", nil, err
		}
		return "zstd", func(dst, src []byte) ([]byte, error) { return w.EncodeAll(src, dst), nil }, nil
	}
	return "", nil, nil
}
