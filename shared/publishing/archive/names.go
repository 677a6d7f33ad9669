package archive

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"vitrine/shared/platform/text"
)

// maxPart is the largest length of a part of a name in bytes. File systems take at most 255 bytes or UTF-16 units.
const maxPart = 240

// maxExtension is how many bytes of an extension a shortened name keeps.
const maxExtension = 20

// reserved matches names that Windows reads as a device, with or without an extension.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)`)

// safePart returns a part of a path as a name that Windows and macOS accept. The name has no bidirectional controls, so
// that it is shown in the order in which it is written.
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
		part = text.Clip(part, maxPart-len(extension)) + extension
	}
	if reserved.MatchString(part) {
		part = "_" + part
	}
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") { // Windows drops them
		part = part[:len(part)-1] + "_"
	}
	return part
}

// safe returns a path with each part made safe.
func safe(name string) string {
	parts := strings.Split(name, "/")
	for n, part := range parts {
		parts[n] = safePart(part)
	}
	return strings.Join(parts, "/")
}

// names gives each of a set of paths a name of its own.
type names struct {
	files   map[string]bool // taken names, folded
	folders map[string]bool // folders of all paths, folded
	// twins counts the names that were tried for paths of the same folded name, so that thousands of them cost as much each.
	twins map[string]int
}

// fold returns the form of a name that file systems compare if they ignore case and composition.
func fold(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

func newNames(paths []string) names {
	n := names{files: map[string]bool{}, folders: map[string]bool{}, twins: map[string]int{}}
	for _, p := range paths {
		for folder := path.Dir(safe(p)); folder != "."; folder = path.Dir(folder) {
			n.folders[fold(folder)] = true
		}
	}
	return n
}

// add returns a safe name for a path. No other name of the set is the same to a file system that ignores case or
// composition.
func (n names) add(p string) string {
	name := safe(p)
	first := fold(name)
	for folded := first; n.files[folded] || n.folders[folded]; folded = fold(name) {
		extension := path.Ext(p)
		if len(extension) > maxExtension || strings.HasPrefix(path.Base(p), extension) { // .profile has no extension
			extension = ""
		}
		base := strings.TrimSuffix(p, extension)
		folder, last := path.Split(base)
		n.twins[first]++
		mark := fmt.Sprintf(" (%d)", n.twins[first]+1)
		if most := maxPart - len(mark) - len(extension); len(last) > most {
			last = text.Clip(last, most)
		}
		name = safe(folder + last + mark + extension)
	}
	n.files[fold(name)] = true
	return name
}
