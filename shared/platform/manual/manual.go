// Package manual writes what a deployment tells agents about itself: the skill, and the documents that lead to it. Its
// texts take every host and every number from the values that hold for the deployment.
package manual

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
	"vitrine/shared/platform/text"
)

// Name is the name of the skill.
const Name = "vitrine"

// VersionHeader is the header with which answers name the version of the skill.
const VersionHeader = "Vitrine-Skill"

// versionLength is how many hexadecimal digits of its digest name a version.
const versionLength = 12

// description tells agents when to read the skill. It is a plain YAML scalar.
const description = "Publish files with Vitrine and give a person a link that opens in any browser. Use it to show a " +
	"report, page, chart, slide deck or prototype, to change one that was published before, or to share one with people " +
	"who have no account."

var (
	//go:embed skill.md
	skillText string
	//go:embed agents.md
	agentsText string
	//go:embed llms.txt
	indexText string
)

// Deployment is what the texts depend on.
type Deployment struct {
	Origins address.Origins
	Policy  policy.Policy
	Limits  *limits.Limits
	// anywhere says that Origins are placeholders, because the text is for every deployment.
	anywhere bool
}

// Anywhere returns a deployment for texts that belong to none. Its hosts are placeholders, and its numbers are those of
// a deployment without a policy.
func Anywhere() Deployment {
	p, numbers := policy.Default(false), limits.Default()
	numbers.Tiers = p.Tiers
	return Deployment{
		Origins: address.Origins{
			API:     "$VITRINE_URL",
			Upload:  "UPLOAD_URL",
			Content: "CONTENT_URL",
			App:     "APP_URL",
			MCP:     "MCP_URL",
		},
		Policy:   p,
		Limits:   &numbers,
		anywhere: true,
	}
}

// Manual is what a deployment tells agents.
type Manual struct {
	// Skill is the file SKILL.md.
	Skill string
	// Head is the front matter of the skill.
	Head FrontMatter

	words *strings.Replacer
	body  string // the skill without its front matter
}

// FrontMatter is the head of a skill.
//
// Source: https://agentskills.io/specification.
type FrontMatter struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Metadata    Metadata `json:"metadata"`
}

// Metadata is what the skill adds to the members of the specification.
type Metadata struct {
	// Version identifies the rest of the skill's text. A copy with another version is stale.
	Version string `json:"version"`
}

// New writes the skill of a deployment.
func New(d Deployment) Manual {
	words := d.words()
	body := words.Replace(skillText)
	start, end := fmt.Sprintf("---\nname: %s\ndescription: %s\n", Name, description), "---\n\n"+body
	sum := sha256.Sum256([]byte(start + end))
	version := hex.EncodeToString(sum[:])[:versionLength]
	return Manual{
		Skill: start + fmt.Sprintf("metadata:\n  version: %q\n", version) + end,
		Head:  FrontMatter{Name: Name, Description: description, Metadata: Metadata{version}},
		words: words,
		body:  body,
	}
}

// Version returns the version of the skill.
func (m Manual) Version() string { return m.Head.Metadata.Version }

// Digest returns the SHA-256 of a text as skills have it.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// words returns what fills the gaps of the texts.
func (d Deployment) words() *strings.Replacer {
	o, from := d.Origins, d.Policy.Loads
	member := d.Limits.Tiers[limits.Free]
	return strings.NewReplacer(
		"{{name}}", d.Policy.Brand.Title(),
		"{{where}}", d.where(),
		"{{server}}", d.server(),
		"{{anonymous}}", d.anonymous(),
		"{{ephemeral}}", d.withoutAccount("; without an account, add `--ephemeral` to the command below"),
		"{{try}}", d.withoutAccount("\n\nWithout an account, this works at once:\n\n"+
			"    vitrine publish ./report --ephemeral --json"),
		"{{api}}", o.API,
		"{{app}}", o.App,
		"{{upload}}", o.Upload,
		"{{content}}", o.Content,
		"{{mcp}}", o.MCP,
		"{{clients}}", ClientTable(o.MCP),
		"{{limits}}", d.limits(),
		"{{title_runes}}", fmt.Sprint(limits.TitleRunes),
		"{{view_files}}", fmt.Sprint(limits.ViewFiles),
		"{{text}}", MostText(d.Limits),
		"{{put_life}}", text.Span(limits.PutURLLife),
		"{{session_life}}", text.Span(limits.SessionLife),
		"{{expiry}}", expiry(member),
		"{{run}}", running(member.Scripts),
		"{{paths}}", d.atOrigin("Each artifact has an origin of its own once its scripts run: relative paths and paths from "+
			"the root lead to its files, and web apps work as they are built. In an app of one page a path that no file has opens "+
			"the entrypoint; `--app`, or `app` of `prepare_upload`, says that it is one where its pages do not look like it.",
			"Refer to the files of the artifact by relative paths."),
		"{{workers}}", d.atOrigin("Workers, modules and frames may come from files of the artifact or from blob: URLs. Service "+
			"workers are refused.", "Workers and modules may come from blob: URLs that the page makes."),
		"{{storage}}", d.atOrigin("localStorage, IndexedDB, caches and cookies stay as long as the reader's browser keeps them "+
			"for frames; where it keeps none they last until the page is closed.", "localStorage, sessionStorage and cookies work "+
			"and last until the page is closed. There are no frames inside the page."),
		"{{scripts}}", scriptRule(from.Scripts),
		"{{styles}}", styleRule(from),
		"{{fonts}}", orNone(from.Fonts, "Fonts may come from %s.", "Fonts are files of the artifact."),
		"{{images}}", orNone(from.Images, "Images are files of the artifact, data: and blob: URLs, or come from %s.",
			"Images are files of the artifact, or data: and blob: URLs."),
		"{{connect}}", orNone(from.Connect, "fetch reaches the files of the artifact, data: and blob: URLs, and %s.",
			"fetch reaches the files of the artifact, and data: and blob: URLs."),
	)
}
