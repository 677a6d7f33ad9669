// Package leak finds secrets in texts before or after they are published.
package leak

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"

	"vitrine/shared/identity/credential"
)

const (
	// MaxSecret is the largest length of a secret that is found, in bytes.
	MaxSecret = 8 << 10
	// MaxPart is the largest length of a Vitrine secret, and of each part of a key. A larger bound would only slow the
	// expressions down.
	MaxPart = 512
	// MaxHeaders is how many headers, such as Proc-Type or Version, may stand between the head and the body of a key.
	MaxHeaders = 16
	// window is how many bytes are searched at a time.
	window = 64 << 10
	// maxFindings bounds how many secrets of one text are remembered.
	maxFindings = 10000
)

// The regular expressions of the parts of a private key, in the syntax that Go and browsers share. A head is followed by
// a gap, then headers with a gap after each, then the body.
const (
	KeyHead   = `-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----`
	KeyHeader = `[A-Za-z][A-Za-z-]{0,40}: [^\r\n\\]*`
	// KeyGap is line ends, spaces and the marks of strings and comments, because the lines of a key may be in a string of
	// a program or of JSON.
	KeyGap = "(?:\\\\+[nrt]|[ \\t\\r\\n\"'`,;.+&\\\\#*|>])*"
	// KeyBody is the beginning of a body in base64, in which slashes and pluses may be escaped. The shortest key, of
	// Ed25519, has 64 characters. A page that explains the format shows fewer.
	KeyBody = `(?:\\/|&#43;|[A-Za-z0-9+/=]){60}`
)

// Finder searches the text that is written to it for secrets: Vitrine secrets with a valid checksum, and private keys
// in the armor of PEM or PGP. It buffers at most some 128 KiB, so that a secret may span writes. It ignores NUL bytes, so
// that it also finds ASCII in UTF-16.
type Finder struct {
	held  []byte
	first string
	seen  map[[sha256.Size]byte]string
}

// Write adds the next bytes. It never fails.
func (f *Finder) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), window)
		for piece := range bytes.SplitSeq(rest[:n], []byte{0}) {
			f.held = append(f.held, piece...)
		}
		if rest = rest[n:]; len(f.held) >= window {
			f.search(len(f.held) - MaxSecret)
			f.held = append(f.held[:0], f.held[len(f.held)-MaxSecret:]...)
		}
	}
	return len(p), nil
}

// Found returns the kind of the first secret, "" if there is none. No write may follow.
func (f *Finder) Found() string {
	f.search(len(f.held))
	f.held = nil
	return f.first
}

// search searches for secrets that begin before end.
func (f *Finder) search(end int) {
	f.each(end, "ap_", vitrineSecret)
	f.each(end, "-----BEGIN ", privateKey)
}

// each calls read at each mark before end and records the secrets that read finds.
func (f *Finder) each(end int, mark string, read func([]byte) (what string, text []byte)) {
	for at := 0; ; at++ {
		next := bytes.Index(f.held[at:], []byte(mark))
		if next < 0 || at+next >= end {
			return
		}
		at += next
		if what, text := read(f.held[at:min(len(f.held), at+MaxSecret)]); what != "" {
			f.record(what, text)
		}
	}
}

func (f *Finder) record(what string, text []byte) {
	if f.first == "" {
		f.first = what
	}
	if f.seen == nil {
		f.seen = map[[sha256.Size]byte]string{}
	}
	if len(f.seen) < maxFindings {
		f.seen[sha256.Sum256(text)] = what
	}
}

// Added returns the kind of a secret that is in the second text and not in the first, "" if there is none.
func Added(before, after string) string {
	var old, now Finder
	_, _ = old.Write([]byte(before))
	_, _ = now.Write([]byte(after))
	old.Found()
	now.Found()
	for sum, what := range now.seen {
		if _, known := old.seen[sum]; !known {
			return what
		}
	}
	return ""
}

// Leak is a secret in a text.
type Leak struct {
	Kind   string // "a private key", for example
	Offset int    // of its first byte
}

// In returns at most so many secrets of a whole text: Vitrine secrets in order, then private keys in order.
func In(text []byte, most int) (out []Leak) {
	marks := []struct {
		mark string
		read func([]byte) (string, []byte)
	}{{"ap_", vitrineSecret}, {"-----BEGIN ", privateKey}}
	for _, m := range marks {
		for at := 0; len(out) < most; {
			next := bytes.Index(text[at:], []byte(m.mark))
			if next < 0 {
				break
			}
			at += next
			what, found := m.read(text[at:min(len(text), at+MaxSecret)])
			if what != "" {
				out = append(out, Leak{what, at})
			}
			at += max(len(found), 1)
		}
	}
	return out
}

// vitrineSecret reads a Vitrine secret at the start of a text.
func vitrineSecret(text []byte) (string, []byte) {
	t, n, err := credential.Leading(text[:min(len(text), MaxPart)])
	if err != nil {
		return "", nil
	}
	return fmt.Sprintf("a secret of Vitrine (ap_%s_...)", t.Kind), text[:n]
}

var keyHead, keyHeader = leading(KeyHead), leading(KeyHeader)
var keyGap, keyBody = leading(KeyGap), leading(KeyBody)

// leading returns a function that returns how many bytes at the start of a text match an expression, -1 for none.
func leading(expression string) func([]byte) int {
	compiled := regexp.MustCompile("^" + expression)
	return func(text []byte) int {
		if found := compiled.FindIndex(text[:min(len(text), MaxPart)]); found != nil {
			return found[1]
		}
		return -1
	}
}

// privateKey reads a private key at the start of a text. A head without a body is no key.
func privateKey(text []byte) (string, []byte) {
	rest, n := text, keyHead(text)
	for left := MaxHeaders; n >= 0 && left >= 0; left-- {
		rest = rest[n:]
		rest = rest[keyGap(rest):]
		n = keyHeader(rest)
	}
	if n = keyBody(rest); n < 0 || len(rest) == len(text) {
		return "", nil
	}
	return "a private key", text[:len(text)-len(rest)+n]
}
