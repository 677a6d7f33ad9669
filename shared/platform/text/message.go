package text

import (
	"strings"
	"unicode/utf8"
)

// Message returns a text of several lines that a stranger wrote, with OneLine applied to each line and without blank
// lines around them. It also reports whether the result has at most most characters. The result may be empty.
func Message(value string, most int) (string, bool) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(value), "\n")
	for n, line := range lines {
		lines[n] = OneLine(line)
	}
	value = strings.Trim(strings.Join(lines, "\n"), "\n")
	return value, utf8.RuneCountInString(value) <= most
}

// Email returns an e-mail address without the spaces around it, and reports whether it has the form of one: a bare
// address without a display name, in printable characters that need no quotes.
// maxEmailBytes is the longest e-mail address that a person may type.
const maxEmailBytes = 254

func Email(value string) (string, bool) {
	value = strings.TrimSpace(value)
	local, domain, _ := strings.Cut(value, "@")
	return value, local != "" && domain != "" && len(value) <= maxEmailBytes && Identifier(value) &&
		!strings.ContainsAny(local, "<>()[],;:\\\"") && !strings.ContainsAny(domain, "<>(),;\\\"@")
}
