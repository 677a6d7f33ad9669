package checkout

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Where the local stack takes its limits from, in every commit so far.
const (
	stackLimits = "limits.Default()"
	liftedCall  = "lift(limits.Default())"
)

var limitsImport = regexp.MustCompile(`"vitrine/shared/(?:platform/)?limits"`)

var errLimits = errors.New("its local stack does not take its limits as expected")

// Lift writes an overlay for Stack, into a temporary folder, by which the stack serves with the limits that a function
// named lift returns. Source is a Go file of a main package with that function; the import of package limits in it is
// replaced by that of the tree.
func (t Tree) Lift(source, temporary string) (overlay string, err error) {
	folder, err := t.stackFolder()
	if err != nil {
		return "", err
	}
	local := filepath.Join(t.Dir, folder, "local.go")
	text, err := os.ReadFile(local)
	if err != nil {
		return "", err
	}
	path := limitsImport.Find(text)
	if path == nil || strings.Count(string(text), stackLimits) != 1 {
		return "", errLimits
	}
	dir, err := os.MkdirTemp(temporary, "overlay-")
	if err != nil {
		return "", err
	}
	o := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range map[string]string{
		"local.go":  strings.Replace(string(text), stackLimits, liftedCall, 1),
		"lifted.go": limitsImport.ReplaceAllLiteralString(source, string(path)),
	} {
		o.Replace[filepath.Join(t.Dir, folder, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
