// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"unicode/utf16"

	"github.com/nib-log/nib/internal/logread"
)

// A request is the input of the functions of the API.
type request struct {
	*http.Request
	session *session
	index   *held
	values  url.Values
}

// maxRows is the maximum number of rows that one request returns, and
// maxRowsBytes the maximum size of their lines.
const (
	maxRows      = 500
	maxRowsBytes = 8 << 20
)

// number returns a parameter, or 0 if it is absent.
func number(values url.Values, name string) (int64, error) {
	text := values.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &badRequest{name + " is not a number"}
	}
	return n, nil
}

// A badRequest is an error of the client.
type badRequest struct{ text string }

func (e *badRequest) Error() string { return e.text }

func selectionOf(values url.Values) (c selection, err error) {
	c.query = values.Get("q")
	from, err1 := number(values, "from")
	to, err2 := number(values, "to")
	asked, err3 := number(values, "asked")
	c.from, c.to, c.asked = from, to, asked
	if err := errors.Join(err1, err2, err3); err != nil || from < 0 || to < from || to > 1e14 {
		return c, errors.Join(err, &badRequest{"from and to are not a range of time"})
	}
	return c, nil
}

// answer returns a handler that writes the result of get as JSON.
func (s *Server) answer(get func(r request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := request{Request: r, values: r.URL.Query()}
		c, err := selectionOf(q.values)
		if err == nil {
			q.session, q.index, _, err = s.index(c, false)
		}
		var result any
		if err == nil {
			result, err = get(q)
		}
		status := http.StatusOK
		if err != nil {
			status, result = problem(err)
		}
		writeJSON(w, status, result)
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser has gone
}

// A failure is an error as the page receives it.
type failure struct {
	Problem string `json:"problem"`
	// Offset in the query, in UTF-16 code units as scripts count.
	Offset *int `json:"offset,omitempty"`
}

func problem(err error) (int, failure) {
	var q *logread.QueryError
	var bad *badRequest
	switch {
	case errors.As(err, &q):
		at := len(utf16.Encode([]rune(q.Query[:min(q.Offset, len(q.Query))])))
		return http.StatusBadRequest, failure{visible([]byte(q.Problem)), &at}
	case errors.As(err, &bad):
		return http.StatusBadRequest, failure{Problem: bad.text}
	}
	return http.StatusInternalServerError, failure{Problem: visible([]byte(err.Error()))}
}

type rowsAnswer struct {
	Session string `json:"session"`
	Low     int64  `json:"low"`
	High    int64  `json:"high"`
	First   int64  `json:"first"`
	Rows    []row  `json:"rows"`
}

// getRows returns n rows, beginning with row.
func getRows(r request) (any, error) {
	from, err1 := number(r.values, "row")
	n, err2 := number(r.values, "n")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	a := rowsAnswer{Session: r.session.id, Rows: []row{}}
	a.Low, a.High = r.index.limits()
	a.First = max(from, a.Low)
	n = min(max(n, 1), maxRows) - (a.First - from)
	if n <= 0 {
		return a, nil
	}
	read := 0
	add := func(_, at int64, l *logread.Line) bool {
		a.Rows = append(a.Rows, newRow(at, l))
		read += len(l.Bytes())
		return int64(len(a.Rows)) < n && read < maxRowsBytes
	}
	err := r.index.rows(r.Context(), newScanner(), a.First, add)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) {
		err = nil // the file was truncated; the stream says so
	}
	return a, err
}

// getLine returns one whole line.
func getLine(r request) (any, error) {
	at, err := number(r.values, "at")
	end, _ := r.session.doc.state()
	if err != nil || at < 0 || at >= end {
		return nil, &badRequest{"at is not the offset of a line"}
	}
	var d *detail
	s := newScanner()
	_, err = r.session.doc.lines(nil, at, at+1, func(at int64, line []byte) bool {
		s.line.Reset(line)
		full := newDetail(at, &s.line)
		d = &full
		return false
	})
	if err == nil && d == nil {
		err = &badRequest{"at is not the offset of a line"}
	}
	return d, err
}

// A rowAnswer has a row and the bounds of all rows, which may have changed
// since the last status of the stream.
type rowAnswer struct {
	Row   int64 `json:"row"`
	Found bool  `json:"found"`
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
}

func (r request) rowAnswer(row int64, found bool) rowAnswer {
	low, high := r.index.limits()
	return rowAnswer{row, found, low, high}
}

// getError returns the next or the previous row at level error or above.
func getError(r request) (any, error) {
	from, err := number(r.values, "row")
	if err != nil {
		return nil, err
	}
	row, found, err := r.index.nextError(r.Context(), newScanner(), from,
		r.values.Get("back") != "")
	return r.rowAnswer(row, found), err
}

// getRow returns the row of the line at an offset.
func getRow(r request) (any, error) {
	at, err := number(r.values, "at")
	if err != nil || at < 0 {
		return nil, &badRequest{"at is not the offset of a line"}
	}
	row, found, err := r.index.rowAt(newScanner(), at)
	return r.rowAnswer(row, found), err
}
