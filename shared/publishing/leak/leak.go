// Package leak finds secrets in texts before or after they are published.
package leak

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"vitrine/shared/identity/credential"
)

const (
	// maxSecret is the largest length of a secret, in bytes.
	maxSecret = 8 << 10
	// maxShortSecret is the largest length of a Vitrine secret and of the head of a key. A larger bound would only slow
	// the expressions down.
	maxShortSecret = 256
	// window is how many bytes are searched at a time.
	window = 64 << 10
	// minBody is how many base64 characters in a row have to follow the head of a private key. The shortest key, of
	// Ed25519, has 64. A page that explains the format shows fewer.
	minBody = 60
	// maxHeaders is how many headers, such as Proc-Type or Version, may stand between the head and the body.
	maxHeaders = 16
	// maxFindings bounds how many secrets of one text are remembered.
	maxFindings = 10000
)

// Finder searches the text that is written to it for secrets: Vitrine secrets with a valid checksum, and private keys
// in PEM or OpenPGP armor. It buffers at most some 128 KiB, so that a secret may span writes. It ignores NUL bytes, so
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
			f.search(len(f.held) - maxSecret)
			f.held = append(f.held[:0], f.held[len(f.held)-maxSecret:]...)
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
		if what, text := read(f.held[at:min(len(f.held), at+maxSecret)]); what != "" {
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
			what, found := m.read(text[at:min(len(text), at+maxSecret)])
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
	t, n, err := credential.Leading(text[:min(len(text), maxShortSecret)])
	if err != nil {
		return "", nil
	}
	return fmt.Sprintf("a secret of Vitrine (ap_%s_...)", t.Kind), text[:n]
}

var (
	keyHead   = regexp.MustCompile(`^-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----`)
	keyHeader = regexp.MustCompile(`^[A-Za-z][A-Za-z-]{0,40}: [^\r\n\\]{0,300}`)
	newline   = regexp.MustCompile(`^\\+[nrt]`)
)

// privateKey reads a private key at the start of a text: the head, optional headers, and a line of the body. The lines
// may be in a string of a program or of JSON. A head without a body is no key.
func privateKey(text []byte) (string, []byte) {
	head := keyHead.Find(text[:min(len(text), maxShortSecret)])
	if head == nil {
		return "", nil
	}
	rest := text[len(head):]
	for range maxHeaders {
		rest = afterSeparators(rest)
		header := keyHeader.Find(rest[:min(len(rest), 2*maxShortSecret)])
		if header == nil {
			break
		}
		rest = rest[len(header):]
	}
	if rest = afterSeparators(rest); base64Run(rest) < minBody {
		return "", nil
	}
	return "a private key", text[:len(text)-len(rest)+minBody]
}

// separators are the characters that may stand between the lines of a key.
const separators = " \t\r\n\"'`,;.+&\\#*|>"

// afterSeparators skips line ends, spaces and the marks of strings and comments.
func afterSeparators(text []byte) []byte {
	for len(text) > 0 {
		switch {
		case text[0] == '\\' && newline.Match(text):
			text = text[len(newline.Find(text)):]
		case strings.IndexByte(separators, text[0]) >= 0:
			text = text[1:]
		default:
			return text
		}
	}
	return text
}

// base64Run counts the base64 characters at the start of text, up to minBody. An escaped slash or plus counts as one.
func base64Run(text []byte) (n int) {
	for ; len(text) > 0 && n < minBody; n++ {
		switch c := text[0]; {
		case bytes.HasPrefix(text, []byte(`\/`)):
			text = text[2:]
		case bytes.HasPrefix(text, []byte("&#43;")):
			text = text[5:]
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
			text = text[1:]
		default:
			return n
		}
	}
	return n
}
