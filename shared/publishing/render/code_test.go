package render

import (
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

func TestLanguagesAreKnownByNamesAliasesAndFiles(t *testing.T) {
	for language, want := range map[string]string{
		"go": "Go", "Go": "Go", "golang": "Go", "GO": "Go", "main.go": "Go", "rs": "Rust", "C++": "C++", "cpp": "C++",
		"h":          "C",
		"Dockerfile": "Docker", "tsx": "TypeScript", "yml": "YAML", "sh": "Bash", "json": "JSON", "package.json": "JSON",
		"js": "JavaScript", "console": "Bash Session", "text": "plaintext", "diff": "Diff", "ps1": "PowerShell",
	} {
		if lexer := lexerNamed(language); lexer == nil || lexer.Config().Name != want || lexer != lexers.Get(language) {
			t.Errorf("%s is %v, not %s", language, lexer, want)
		}
	}
}

// asked is a lexer that counts how often its patterns of files are asked for.
type asked struct {
	chroma.Lexer
	times *int
}

func (a asked) Config() *chroma.Config {
	*a.times++
	return a.Lexer.Config()
}

func TestAnUnknownLanguageIsComparedWithNoPatternOfFiles(t *testing.T) {
	lexerNamed("go")
	times, all := 0, lexers.GlobalLexerRegistry.Lexers
	t.Cleanup(func() { lexers.GlobalLexerRegistry.Lexers = all })
	lexers.GlobalLexerRegistry.Lexers = append(all[:len(all):len(all)], asked{lexers.Get("go"), &times})
	for _, language := range []string{"mermaid", "zz", "Not A Language", "", "x.y.z"} {
		if lexer := lexerNamed(language); lexer != nil || times > 0 {
			t.Errorf("%q is %v, after %d lookups", language, lexer, times)
		}
	}
}
