// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Gzip returns a [Config].Compress for the Encoding "gzip". The function reuses
// its memory, so each Client needs its own.
func Gzip() func(dst, src []byte) ([]byte, error) {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return func(dst, src []byte) ([]byte, error) {
		out := bytes.NewBuffer(dst)
		w.Reset(out)
		_, err := w.Write(src)
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
		return out.Bytes(), err
	}
}

// ReadHeaders reads headers with passwords or tokens from a file, with a line
// NAME: VALUE for each. Its errors do not quote them.
func ReadHeaders(name string) (http.Header, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for i, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(line, ":")
		switch key = strings.TrimSpace(key); {
		case strings.TrimSpace(line) == "":
		case !ok || key == "" || strings.ContainsAny(key, " \t"):
			return nil, fmt.Errorf("line %d of %s is not NAME: VALUE", i+1, name)
		default:
			h.Add(key, strings.TrimSpace(value))
		}
	}
	return h, nil
}
