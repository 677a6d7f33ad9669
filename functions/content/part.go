package content

import (
	"fmt"
	"strconv"
	"strings"
)

// part is a range of a file's bytes.
type part struct {
	from, size int64
	partial    bool // a range was requested
	none       bool // the file ends before the range
}

// contentRange returns the Content-Range of the part.
func (p part) contentRange(whole int64) string {
	if p.none {
		return fmt.Sprintf("bytes */%d", whole)
	}
	return fmt.Sprintf("bytes %d-%d/%d", p.from, p.from+p.size-1, whole)
}

// partOf parses a Range header (RFC 9110, section 14.2). It returns the whole file for several ranges, another unit or
// a malformed range.
func partOf(header string, size int64) part {
	whole := part{size: size}
	unit, set, ok := strings.Cut(header, "=")
	if !ok || !strings.EqualFold(unit, "bytes") || strings.Contains(set, ",") {
		return whole
	}
	first, last, ok := strings.Cut(strings.Trim(set, " \t"), "-")
	if !ok || first == "" && last == "" {
		return whole
	}
	from, ok1 := position(first)
	to, ok2 := position(last)
	switch {
	case !ok1 || !ok2 || first != "" && last != "" && to < from:
		return whole
	case first == "" && to > 0 && size == 0:
		return whole // an empty part could be served, but it has no Content-Range
	case first == "" && to == 0 || first != "" && from >= size:
		return part{partial: true, none: true}
	case first == "":
		from, to = max(0, size-to), size-1
	case last == "":
		to = size - 1
	}
	to = min(to, size-1)
	return part{from: from, size: to - from + 1, partial: true}
}

// position parses a number; no digits are 0. It caps numbers at the largest int64, because any number beyond the end of
// the file means the same.
func position(digits string) (int64, bool) {
	if strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if digits == "" {
		return 0, true
	}
	const largest = 1<<63 - 1
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		n = largest
	}
	return n, true
}
