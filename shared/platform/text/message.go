package text

import (
	"strings"
	"unicode/utf8"
)

// Message returns what a stranger wrote in several lines, each as OneLine has it and without blank lines around them,
// and whether it has at most so many characters. It may be empty.
func Message(value string, most int) (string, bool) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(value), "\n")
	for n, line := range lines {
		lines[n] = OneLine(line)
	}
	value = strings.Trim(strings.Join(lines, "\n"), "\n")
	return value, utf8.RuneCountInString(value) <= most
}

// maxEmailBytes is the longest e-mail address that a person may type.
const maxEmailBytes = 254

// Email returns an e-mail address without the spaces around it, and whether it has the form of one: an address alone,
// without a name, of printable characters that need no quotes.
func Email(value string) (string, bool) {
	value = strings.TrimSpace(value)
	local, domain, _ := strings.Cut(value, "@")
	return value, local != "" && domain != "" && len(value) <= maxEmailBytes && Identifier(value) &&
		!strings.ContainsAny(local, "<>()[],;:\\\"") && !strings.ContainsAny(domain, "<>(),;\\\"@")
}
