package archive

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxPart is how many bytes one part of a name may have: file systems take at most 255 bytes or UTF-16 units.
const maxPart = 240

// maxExtension is how many bytes of an extension a shortened name keeps.
const maxExtension = 20

// reserved matches names that Windows reads as a device, with or without an extension.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)`)

// safePart returns a part of a path as a name that Windows and macOS accept. It is shown in the order in which it is
// written.
func safePart(part string) string {
	part = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"|?*\`, r) || unicode.Is(unicode.Bidi_Control, r) {
			return '_'
		}
		return r
	}, part)
	if len(part) > maxPart {
		extension := path.Ext(part)
		if len(extension) > maxExtension {
			extension = ""
		}
		part = clip(part, maxPart-len(extension)) + extension
	}
	if reserved.MatchString(part) {
		part = "_" + part
	}
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") { // Windows drops them
		part = part[:len(part)-1] + "_"
	}
	return part
}

// clip returns the beginning of a text, at most n bytes of whole characters.
func clip(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// safe returns a path of which each part is safe.
func safe(name string) string {
	parts := strings.Split(name, "/")
	for n, part := range parts {
		parts[n] = safePart(part)
	}
	return strings.Join(parts, "/")
}

// names gives each of a set of paths a name of its own.
type names struct {
	files   map[string]bool // names that are taken, folded
	folders map[string]bool // folders of all paths, folded
}

// fold returns what file systems that ignore case and composition compare.
func fold(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

func newNames(paths []string) names {
	n := names{files: map[string]bool{}, folders: map[string]bool{}}
	for _, p := range paths {
		for folder := path.Dir(safe(p)); folder != "."; folder = path.Dir(folder) {
			n.folders[fold(folder)] = true
		}
	}
	return n
}

// add returns a safe name for a path that no other path of the set has, in any spelling that a file system may take for
// the same one.
func (n names) add(p string) string {
	name := safe(p)
	for twin := 2; n.files[fold(name)] || n.folders[fold(name)]; twin++ {
		extension := path.Ext(p)
		if len(extension) > maxExtension || strings.HasPrefix(path.Base(p), extension) { // of .profile too
			extension = ""
		}
		base := strings.TrimSuffix(p, extension)
		folder, last := path.Split(base)
		mark := fmt.Sprintf(" (%d)", twin)
		if most := maxPart - len(mark) - len(extension); len(last) > most {
			last = clip(last, most)
		}
		name = safe(folder + last + mark + extension)
	}
	n.files[fold(name)] = true
	return name
}
