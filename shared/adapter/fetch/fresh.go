package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// freshness returns how long an answer may be cached (RFC 9111): max-age minus Age. It is zero for an answer that does
// not say, or that must not be cached.
func freshness(header http.Header) time.Duration {
	var life time.Duration
	for _, line := range header.Values("Cache-Control") {
		for word := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(word)), "=")
			switch name {
			case "no-store", "no-cache":
				return 0
			case "max-age":
				life = seconds(strings.Trim(value, `"`))
			}
		}
	}
	return max(0, life-seconds(header.Get("Age")))
}

// seconds parses a number of seconds; zero if it is malformed.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
