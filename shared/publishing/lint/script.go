package lint

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"vitrine/shared/publishing/leak"
)

// later returns a function that compiles an expression when it is first needed. Expressions that count to hundreds take
// long, and most programs that link this package never check a page.
func later(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// quoted matches an address in quotes and the character after it, which tells whether the address is complete.
const quoted = `(["'\x60])([^"'\x60\\\n]{1,500})["'\x60]\s{0,20}([,);]?)`

// call is a form in which a program loads an address. The program is searched for mark, and form is matched there.
type call struct {
	mark    string
	form    func() *regexp.Regexp
	loads   *resource
	modules bool // an import of another module, which only modules have
}

// worker matches the start of a worker from a file.
var worker = later(`^new (?:Shared)?Worker\(\s{0,20}(?:new URL\(\s{0,20})?` + quoted)

var calls = []call{
	{mark: "fetch(", form: later(`^fetch\(\s{0,20}` + quoted), loads: &aRequest},
	{mark: "WebSocket(", form: later(`^WebSocket\(\s{0,20}` + quoted), loads: &aRequest},
	{mark: "EventSource(", form: later(`^EventSource\(\s{0,20}` + quoted), loads: &aRequest},
	{mark: "sendBeacon(", form: later(`^sendBeacon\(\s{0,20}` + quoted), loads: &aRequest},
	{
		mark: ".open(",
		form: later(`^\.open\(\s{0,20}["'\x60](?i:GET|POST|PUT|DELETE|HEAD|PATCH)["'\x60]\s{0,20},\s{0,20}` +
			quoted),
		loads: &aRequest,
	},
	{mark: "new Worker(", form: worker, loads: &aWorker},
	{mark: "new SharedWorker(", form: worker, loads: &aWorker},
	{mark: "import(", form: later(`^import\(\s{0,20}` + quoted), loads: &aScript},
	{mark: "import ", form: later(`^import\s{1,20}` + quoted), loads: &aScript, modules: true},
	{mark: "import\"", form: later(`^import` + quoted), loads: &aScript, modules: true},
	{mark: " from ", form: later(`^ from\s{1,20}` + quoted), loads: &aScript, modules: true},
	{mark: "}from", form: later(`^}from\s{0,20}` + quoted), loads: &aScript, modules: true},
}

// maxCall is how many bytes of a call are matched.
const maxCall = 640

// stores are uses of what browsers refuse to pages of other origins. Pages whose scripts run have a substitute.
var stores = []string{"localStorage.", "localStorage[", "sessionStorage.", "sessionStorage[", "document.cookie"}

// script checks the addresses that a program loads, if the program has them as literals, and what it asks of the
// browser.
func (p *page) script(program []byte, module bool) {
	for _, c := range calls {
		if c.modules && !module {
			continue
		}
		p.uses(program, c.mark, func(at, line int) {
			if m := c.form().FindSubmatch(program[at:min(len(program), at+maxCall)]); m != nil {
				p.asks(c, line, string(m[2]), len(m[3]) > 0 || c.modules)
			}
		})
	}
	p.uses(program, "serviceWorker.register(", func(_, line int) { p.add(ServiceWorker, Warn, line, "", "") })
	if p.revision.Scripts {
		return
	}
	for _, mark := range stores {
		p.uses(program, mark, func(_, line int) {
			p.add(StorageBlocked, Info, line, strings.TrimRight(mark, ".["), "")
		})
	}
}

// uses visits the places of a mark in a program, with their lines.
func (p *page) uses(program []byte, mark string, visit func(at, line int)) {
	line, counted := p.line, 0
	for at := 0; ; at += len(mark) {
		next := bytes.Index(program[at:], []byte(mark))
		if next < 0 {
			return
		}
		at += next
		line += bytes.Count(program[counted:at], []byte("\n"))
		counted = at
		if !part(program[:at], mark) && !commented(program[:at]) {
			visit(at, line)
		}
	}
}

// asks checks an address that a program loads. An address is incomplete if the program adds to it. In a file of its own, a
// program may run in any page, so relative addresses there are not looked up.
func (p *page) asks(c call, line int, address string, complete bool) {
	absolute := scheme.MatchString(address) || strings.HasPrefix(address, "//")
	path := strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") || strings.HasPrefix(address, "/")
	switch {
	case !absolute && !complete, c.loads == &aScript && !absolute && !path: // the second is a name in an import map
		return
	case p.program && !absolute && address[0] != '/' && !c.loads.none:
		return
	}
	r := reference{
		address: address,
		line:    line,
		missing: Warn,
		loads:   c.loads,
		blocked: Warn,
	}
	if p.program && c.loads != &aScript { // other addresses than those of modules are relative to the page
		r.from = p.revision.Entrypoint
	}
	p.refer(p.findings, r)
}

// part reports whether a mark that begins with a letter is the end of a longer word or a method of another object.
func part(before []byte, mark string) bool {
	if len(before) == 0 || mark[0] < 'A' {
		return false
	}
	c := before[len(before)-1]
	if c == '.' && (mark == "fetch(" || mark == "import(") {
		return !bytes.HasSuffix(before, []byte("window.")) && !bytes.HasSuffix(before, []byte("self."))
	}
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// commented reports whether the text after before is in a comment of its line.
func commented(before []byte) bool {
	const longest = 200 // bytes that are searched
	line := before[max(0, len(before)-longest):]
	line = bytes.TrimSpace(line[bytes.LastIndexByte(line, '\n')+1:])
	return bytes.Contains(line, []byte("//")) && !bytes.Contains(line, []byte("://")) ||
		bytes.HasPrefix(line, []byte("*")) || bytes.HasPrefix(line, []byte("/*"))
}

// maxSecrets bounds the reported secrets of one file.
const maxSecrets = 8

// secrets reports secrets by their kind and line only.
func (f *findings) secrets(body []byte) {
	line, counted := 1, 0
	for _, found := range leak.In(body, maxSecrets) {
		if found.Offset < counted { // leak.In begins again for each kind
			line, counted = 1, 0
		}
		line += bytes.Count(body[counted:found.Offset], []byte("\n"))
		counted = found.Offset
		f.add(SecretFound, Error, line, found.Kind, "")
	}
}

func hasSecret(text string) bool { return len(leak.In([]byte(text), 1)) > 0 }
