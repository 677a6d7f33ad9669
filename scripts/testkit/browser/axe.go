package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/local/engines"
)

// Violation is a rule of axe-core that a document breaks.
type Violation struct {
	Rule   string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"` // selectors of the elements
}

func (v Violation) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", v.Rule, v.Impact, v.Help, strings.Join(v.Nodes, "; "))
}

// Axe runs all rules of axe-core in the document and returns the violations, without what axe-core
// could not decide. The script is injected through DevTools, so that no policy of the page blocks
// it; frames are not checked.
func (d *Document) Axe() []Violation {
	d.t.Helper()
	if !Eval[bool](d, "'axe' in window") {
		d.Do(chromedp.Evaluate[chromedp.Void](axe(d.t) + ";undefined"))
	}
	found := Eval[string](d, `axe.run(document, {iframes: false, resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({
		id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.target.flat().join(" ") + " " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message) }))))`)
	var violations []Violation
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		d.t.Fatalf("%s: axe-core answers %.200s: %v", d.name, found, err)
	}
	return violations
}

var readAxe = sync.OnceValues(func() (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(root, "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})

func axe(t testing.TB) string {
	t.Helper()
	source, err := readAxe()
	if err != nil {
		t.Fatalf("axe-core is missing: install it with `npm ci` in the repository: %v", err)
	}
	return source
}
