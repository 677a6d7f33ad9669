package content

import (
	"bytes"
	_ "embed"
	"io"
	"strings"

	"golang.org/x/net/html"

	"vitrine/shared/platform/script"
)

//go:embed frame.js
var frameSource string

// frameScript is the script of HTML in a viewer frame. It posts the height of the document and its place in the artifact
// to the page around and tells whether parts of it stay in place while it scrolls. It opens links that leave the artifact in
// a tab of their own, and stands in for what browsers refuse to an opaque origin.
//
// The message about the height has scripts, which reports whether the document has scripts of its own, which the policy
// may have blocked: elements other than this one, event handler attributes, or javascript: links. Data blocks and import
// maps do not count. Elements whose names hide methods of the document make it false.
var frameScript = script.Height(script.Place + compact(frameSource) +
	`const run='script:not([type]),script[type=""],script[type=module],script[type*=javascript],` +
	`script[type*=ecmascript]';` +
	`let scripts=false,seen;const report=()=>{if(!seen&&d.readyState!=="loading"){seen=true;` +
	`try{scripts=!!d.querySelector(run)||!!d.querySelector('a[href^="javascript:" i]')||` +
	`d.evaluate('boolean(//@*[starts-with(name(),"on")])',d,null,3,null).booleanValue}catch{}}tell()};`)

var frameElement = "\n<script>" + frameScript + "</script>\n"

// spaced removes spaces around signs. No string of the script has these.
var spaced = strings.NewReplacer(" => ", "=>", " = ", "=", " === ", "===", " !== ", "!==", " : ", ":", ", ", ",",
	" ? ", "?", " && ", "&&", " || ", "||", " ?? ", "??", " + ", "+", " > ", ">", " <= ", "<=", ": ", ":", ") {", "){",
	"{ ", "{", " }", "}", "if (", "if(", "for (", "for(", "try {", "try{", "catch {", "catch{", "} catch", "}catch",
	") return", ")return")

// ended removes what may stand before the end of a block or list. No string of the script has it.
var ended = strings.NewReplacer(";}", "}", ",}", "}", ",)", ")")

// compact returns a script without its indentation, without lines that are comments, and without spaces around signs and
// line ends after them.
func compact(source string) string {
	var out strings.Builder
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		out.WriteString(spaced.Replace(line))
		if !strings.ContainsRune("{};,(", rune(line[len(line)-1])) {
			out.WriteByte('\n')
		}
	}
	return ended.Replace(out.String())
}

const (
	headWithin   = 64 << 10 // how far into a document its head is looked for
	longestToken = 16 << 10 // before the head; what is longer bounds memory
)

// framedBody returns a body with the script of frames. If the scripts of the document run, that one stands before all of
// them. Else it stands after the document, and so it does where the beginning of the document has no place for it. The
// rest of the body is as it was published.
func (f fileResponse) framedBody(body io.Reader) io.Reader {
	element := strings.NewReader(f.script)
	if !f.Scripts {
		return io.MultiReader(body, element)
	}
	head := make([]byte, min(headWithin, f.Size))
	n, _ := io.ReadFull(body, head) // who reads on meets the failure again
	head = head[:n]
	at, found := place(head)
	if !found {
		return io.MultiReader(bytes.NewReader(head), body, element)
	}
	return io.MultiReader(bytes.NewReader(head[:at]), element, bytes.NewReader(head[at:]), body)
}

// place returns the offset in a document that is right after the start tag of head, else of html, else after the
// doctype. A script there runs before all others, and leaves the rendering mode of the document as it is. Documents in
// UTF-16 have no place for a script in UTF-8.
func place(document []byte) (at int, found bool) {
	if bytes.HasPrefix(document, []byte("\xFE\xFF")) || bytes.HasPrefix(document, []byte("\xFF\xFE")) {
		return 0, false
	}
	text := bytes.TrimPrefix(document, []byte("\xEF\xBB\xBF"))
	offset := len(document) - len(text)
	tokens := html.NewTokenizer(bytes.NewReader(text))
	tokens.SetMaxBuf(longestToken)
	for {
		kind := tokens.Next()
		offset += len(tokens.Raw())
		switch kind {
		case html.DoctypeToken:
			at, found = offset, true
			continue
		case html.CommentToken:
			continue
		case html.TextToken:
			if len(bytes.TrimSpace(tokens.Raw())) == 0 {
				continue
			}
		case html.StartTagToken:
			switch name, _ := tokens.TagName(); string(name) {
			case "html":
				at, found = offset, true
				continue
			case "head":
				return offset, true
			}
		}
		return at, found
	}
}
