package journey

import (
	"hash/crc32"
	"strings"
	"testing"
)

const (
	checkLen = 6
	base62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// relabelled is a credential that says something else about itself, with the checksum that goes with it: nothing but the
// label is wrong.
func relabelled(t testing.TB, text, was, is string) string {
	t.Helper()
	body := text[:len(text)-checkLen]
	if body+checked(body) != text || strings.Count(body, was) == 0 {
		t.Fatalf("%.20s is no credential with %q in it", text, was)
	}
	body = strings.Replace(body, was, is, 1)
	return body + checked(body)
}

// checked is the checksum of a credential.
func checked(body string) string {
	sum, out := crc32.ChecksumIEEE([]byte(body)), make([]byte, checkLen)
	for n := checkLen - 1; n >= 0; n-- {
		out[n] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}
