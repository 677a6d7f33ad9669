package lint

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// resource is a kind of file that a page loads, with what the content security policy allows for it besides hosts.
type resource struct {
	blocked Code
	schemes []string // allowed, for addresses without a host
	none    bool     // the policy blocks all, even files of the artifact
}

var (
	made     = []string{"data", "blob"} // schemes of what a page made itself
	aScript  = resource{blocked: ScriptBlocked, schemes: made}
	aStyle   = resource{blocked: StyleBlocked}
	aFont    = resource{blocked: FontBlocked, schemes: made}
	anImage  = resource{blocked: ImageBlocked, schemes: made}
	aMedium  = resource{blocked: MediaBlocked, schemes: made}
	aRequest = resource{blocked: ConnectBlocked, schemes: made}
	aFrame   = resource{blocked: FrameBlocked, none: true}
	anObject = resource{blocked: ObjectBlocked, none: true}
	aWorker  = resource{blocked: NeedsOrigin, schemes: made, none: true}
	aDrawing = resource{blocked: NeedsOrigin, none: true}
)

// reference is an address in a file.
type reference struct {
	address string
	line    int
	missing Severity  // of a missing file
	loads   *resource // nil: a link
	from    string    // file that the address is relative to; empty: the one that has it
	blocked Severity  // of an address that the policy blocks
}

// templated are marks in addresses that a template or a program completes.
var templated = []string{"{{", "}}", "${", "<%", "%>", "{%", "[[", "#{", "__"}

var (
	scheme     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	drive      = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	authority  = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)
	unwritable = strings.NewReplacer("\t", "", "\n", "", "\r", "")
)

// maxAddress is the longest address that is checked. Longer ones hold data.
const maxAddress = 2 << 10

// clean returns an address without what browsers leave out.
func clean(address string) string {
	return unwritable.Replace(strings.TrimFunc(address, func(c rune) bool { return c <= ' ' }))
}

// refer checks an address in the file.
func (l *Linter) refer(f *findings, r reference) {
	at := clean(r.address)
	if at == "" || at[0] == '#' || slices.ContainsFunc(templated, func(m string) bool { return strings.Contains(at, m) }) {
		return
	}
	named := scheme.FindString(at)
	switch {
	case drive.MatchString(at), strings.EqualFold(named, "file:"):
		f.add(LocalFile, r.missing, r.line, at[:min(len(at), maxAddress)], "")
	case named != "":
		l.load(f, r, strings.ToLower(strings.TrimSuffix(named, ":")), at[len(named):])
	case strings.HasPrefix(strings.ReplaceAll(at, `\`, "/"), "//"):
		l.load(f, r, "https", at)
	case len(at) > maxAddress: // no path of a file is that long
	case r.loads != nil && r.loads.none && !l.ownLoads(r.loads):
		f.add(r.loads.blocked, r.blocked, r.line, at, "")
	case r.loads != nil && r.loads.none && !l.revision.Scripts:
		f.add(OriginUnclaimed, Warn, r.line, at, "")
	default:
		l.find(f, r, at)
	}
}

// ownLoads reports whether pages with an origin of their own load from it what other pages load from nowhere.
func (l *Linter) ownLoads(r *resource) bool { return l.revision.Own && r != &anObject }

// load checks an absolute address against the policy, which allows all links.
func (l *Linter) load(f *findings, r reference, scheme, rest string) {
	if r.loads == nil || slices.Contains(r.loads.schemes, scheme) {
		return
	}
	origin, host := originOf(scheme, rest)
	switch {
	case origin == "":
	case l.allows(r.loads, host) && scheme == "https":
	case l.allows(r.loads, host) && scheme == "http":
		f.add(MixedContent, r.blocked, r.line, origin, "")
	default:
		f.add(r.loads.blocked, r.blocked, r.line, origin, "")
	}
}

// allows reports whether the policy names a host for a kind of file. A star of the policy stands for one label or more.
func (l *Linter) allows(r *resource, host string) bool {
	return slices.ContainsFunc(r.blocked.hosts(l.revision.Loads), func(h string) bool {
		suffix, any := strings.CutPrefix(h, "*")
		return h == host || any && strings.HasSuffix(host, suffix)
	})
}

// originOf returns the origin of an address without user and password, and its host with a port that is not the default
// of the scheme. rest is the address after its scheme. Both are empty if the address has no host.
func originOf(scheme, rest string) (origin, host string) {
	switch scheme {
	case "http", "https", "ws", "wss":
	default:
		return "", ""
	}
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		rest = rest[:end]
	}
	if user := strings.LastIndexByte(rest, '@'); user >= 0 {
		rest = rest[user+1:]
	}
	if len(rest) > 255 || !authority.MatchString(rest) {
		return "", ""
	}
	host = strings.TrimSuffix(strings.ToLower(rest), map[string]string{"https": ":443", "http": ":80"}[scheme])
	return scheme + "://" + host, host
}

// find checks that the revision has the file of a relative address.
func (l *Linter) find(f *findings, r reference, at string) {
	if end := strings.IndexAny(at, "?#"); end >= 0 {
		at = at[:end]
	}
	if at == "" {
		return
	}
	from := cmp.Or(r.from, f.path)
	named, outside := resolve(from, at)
	if outside && l.revision.Own {
		if instead := l.fromRoot(from, at); !l.revision.Scripts && instead != "" && named != "" {
			f.add(OriginUnclaimed, Warn, r.line, at, instead)
		}
		outside = false
	}
	if outside {
		instead, code := l.fromRoot(from, at), LeavesArtifact
		if instead != "" && named != "" {
			code = RootRelative
		}
		f.add(code, r.missing, r.line, at, cmp.Or(instead, l.relative(from, cmp.Or(named, l.revision.Entrypoint))))
		return
	}
	if l.paths[named] || r.loads == nil && (l.opens(named) || l.revision.Own && l.alone(f.path)) {
		return
	}
	if right, ok := l.folded[strings.ToLower(named)]; ok {
		f.add(WrongCase, r.missing, r.line, at, relative(from, right))
		return
	}
	instead := ""
	if index := path.Join(named, "index.html"); l.paths[index] {
		instead = relative(from, index)
	}
	f.add(MissingFile, r.missing, r.line, at, instead)
}

// opens reports whether the viewers lead a link on to a page or folder that it names as web servers do.
func (l *Linter) opens(named string) bool {
	return l.folders[path.Clean(named)] || l.paths[named+".html"]
}

// fromRoot returns what to write in a file instead of an address with a leading slash, which has no query or fragment.
// The address names a file of the revision, the page that web servers show for it, or the entrypoint as their root. It
// returns "" for any other address.
func (l *Linter) fromRoot(from, at string) string {
	if !strings.HasPrefix(at, "/") || strings.HasPrefix(at, "//") || strings.ContainsRune(at, '\\') {
		return ""
	}
	named, _ := resolve(from, at)
	files := []string{path.Join(named, "index.html")}
	switch {
	case named == "":
		files[0] = l.revision.Entrypoint
	case !strings.HasSuffix(at, "/"):
		files = append(files, named, named+".html")
	}
	for _, file := range files {
		if l.paths[file] {
			return relative(from, file)
		}
	}
	return ""
}

// resolve returns the path of a relative address, as a browser resolves it from a file. outside reports that the
// address begins at the root of the host or climbs above the root of the artifact.
func resolve(from, at string) (named string, outside bool) {
	at = strings.ReplaceAll(at, `\`, "/")
	var parts []string
	if !strings.HasPrefix(at, "/") {
		parts = strings.Split(from, "/")
		parts = parts[:len(parts)-1]
	}
	outside = strings.HasPrefix(at, "/")
	for part := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case ".":
		case "..":
			if len(parts) == 0 {
				outside = true
				break
			}
			parts = parts[:len(parts)-1]
		default:
			parts = append(parts, unescape(part))
		}
	}
	return strings.Trim(strings.Join(parts, "/"), "/"), outside
}

// unescape decodes a part of an address as the content host does. It returns a malformed part as it is.
func unescape(part string) string {
	if decoded, err := url.PathUnescape(part); err == nil {
		return decoded
	}
	return part
}

// relative returns the relative address of a path from a file, empty if the revision has no such path.
func (l *Linter) relative(from, to string) string {
	if to = strings.Trim(to, "/"); !l.paths[to] {
		return ""
	}
	return relative(from, to)
}

// relative returns the relative address of a path from a file. It may stand in HTML and CSS as it is.
func relative(from, to string) string {
	there, here := strings.Split(to, "/"), strings.Split(from, "/")
	for len(there) > 1 && len(here) > 1 && there[0] == here[0] {
		there, here = there[1:], here[1:]
	}
	out := strings.Repeat("../", len(here)-1) + strings.Join(there, "/")
	return strings.ReplaceAll((&url.URL{Path: out}).String(), "&", "%26")
}
