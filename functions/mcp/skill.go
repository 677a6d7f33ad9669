package mcp

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	wording "vitrine/shared/platform/text"
)

// skillURI is the skill as a resource. Its folder is named after the skill.
const skillURI = "skill://vitrine/SKILL.md"

// skillsExtension is the name of the extension that defines skills/list and skills/get.
const skillsExtension = "io.modelcontextprotocol/skills"

//go:embed assets/skill.md
var skillTemplate string

// skill returns the text that teaches an agent to use this deployment.
func (h *Host) skill() string {
	policy := h.Limits.Tiers[limits.Free]
	return strings.NewReplacer(
		"{{name}}", h.name(),
		"{{app}}", h.Origins.App,
		"{{upload}}", h.Origins.Upload,
		"{{content}}", h.Origins.Content,
		"{{title_runes}}", fmt.Sprint(limits.TitleRunes),
		"{{text}}", h.mostText(),
		"{{files}}", fmt.Sprint(policy.FileCount),
		"{{file_size}}", size(policy.FileSize),
		"{{artifact_size}}", size(policy.ArtifactSize),
		"{{new_artifacts}}", fmt.Sprint(policy.NewArtifactsPerDay),
		"{{revisions}}", fmt.Sprint(policy.Revisions),
		"{{requests}}", fmt.Sprint(h.Limits.Actor.Limit),
		"{{put_life}}", wording.Span(limits.PutURLLife),
		"{{session_life}}", wording.Span(limits.SessionLife),
		"{{expiry}}", expiry(policy),
		"{{run}}", running(policy.Scripts),
		"{{scripts}}", scriptRule(h.Loads.Scripts),
		"{{styles}}", styleRule(h.Loads),
		"{{fonts}}", orNone(h.Loads.Fonts, "Fonts may come from %s.", "Fonts are files of the artifact."),
		"{{images}}", orNone(h.Loads.Images, "Images are files of the artifact, data: and blob: URLs, or come from %s.",
			"Images are files of the artifact, or data: and blob: URLs."),
		"{{connect}}", orNone(h.Loads.Connect, "fetch reaches the files of the artifact, data: and blob: URLs, and %s.",
			"fetch reaches the files of the artifact, and data: and blob: URLs."),
	).Replace(skillTemplate)
}

// running says whether scripts of pages run.
func running(s limits.Scripts) string {
	const where = "in the Vitrine page, inline or from a file of the artifact. They do not run when a file is opened by its " +
		"own address."
	switch s {
	case limits.ScriptsOff:
		return "Scripts do not run. Show everything without them."
	case limits.ScriptsAsk:
		return "Scripts run for a reader who asks for them, " + where + " Show what matters without them."
	}
	return "Scripts run " + where
}

// orNone returns a sentence that names hosts, or another one if there are none.
func orNone(hosts []string, some, none string) string {
	if len(hosts) == 0 {
		return none
	}
	return fmt.Sprintf(some, strings.Join(hosts, ", "))
}

func scriptRule(hosts []string) string {
	return orNone(hosts, "Libraries may come from %s. No other host may send scripts.",
		"Libraries are files of the artifact. No other host may send scripts.")
}

// styleRule does not repeat the hosts of scripts, which the sentence before has named, where styles may come from all of
// them.
func styleRule(from media.Sources) string {
	more := slices.DeleteFunc(slices.Clone(from.Styles), func(h string) bool { return slices.Contains(from.Scripts, h) })
	switch {
	case len(from.Scripts) == 0 || len(more)+len(from.Scripts) > len(from.Styles):
		return orNone(from.Styles, "Style sheets may come from %s.", "Style sheets are files of the artifact.")
	case len(more) == 0:
		return "Style sheets may come from these."
	}
	return "Style sheets may come from these and from " + strings.Join(more, " and ") + "."
}

// expiry says when artifacts end.
func expiry(p limits.Policy) string {
	const never = "`expires_at` is in the year 2100 for what does not expire."
	switch text := "An artifact ends by itself at `expires_at`, " + wording.Span(p.DefaultLife) +
		" after it was made unless the workspace chose otherwise."; {
	case p.DefaultLife == limits.Forever:
		return "Artifacts do not expire unless the workspace chose otherwise. " + never
	case p.MaxLife == limits.Forever:
		return text + " " + never
	default:
		return text
	}
}

// mostText is the largest text that a member may send in a call.
func (h *Host) mostText() string {
	return size(min(limits.MCPText, h.Limits.Tiers[limits.Free].FileSize))
}

// size formats a number of bytes exactly.
func size(n int64) string {
	switch {
	case n%limits.MiB == 0:
		return fmt.Sprintf("%d MiB", n/limits.MiB)
	case n%1024 == 0:
		return fmt.Sprintf("%d KiB", n/1024)
	}
	return fmt.Sprintf("%d bytes", n)
}

// frontMatter is the head of a skill. Its values are plain YAML scalars, each on one line.
type frontMatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// frontMatterOf parses the head of a skill.
func frontMatterOf(text string) (out frontMatter) {
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	for line := range strings.Lines(head) {
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "name":
			out.Name = value
		case "description":
			out.Description = value
		}
	}
	return out
}

// skillEntry describes a skill and all its files.
//
// Source: the skills extension, https://github.com/modelcontextprotocol/ext-skills.
type skillEntry struct {
	URI         string      `json:"uri"`
	FrontMatter frontMatter `json:"frontmatter"`
	Resources   []skillFile `json:"resources"`
}

type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and lower-case hexadecimal digits
	Size   int    `json:"size"`   // bytes
}

// entryOf returns the entry of a skill that is one file.
func entryOf(text string) skillEntry {
	sum := sha256.Sum256([]byte(text))
	return skillEntry{
		URI:         skillURI,
		FrontMatter: frontMatterOf(text),
		Resources:   []skillFile{{URI: skillURI, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text)}},
	}
}

// complete has the members of every result in the skills extension. The entries change only with a deployment.
type complete struct {
	ResultType string `json:"resultType"`
	TTLMs      int64  `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

var completed = complete{ResultType: "complete", TTLMs: listsLive.Milliseconds(), CacheScope: "public"}

type skillList struct {
	complete
	Skills []skillEntry `json:"skills"`
}

type skillResult struct {
	complete
	Skill skillEntry `json:"skill"`
}

// skillMethods returns the methods skills/list and skills/get, which the SDK does not have.
func skillMethods(text string) map[string]transport.Method {
	entry := entryOf(text)
	return map[string]transport.Method{
		"skills/list": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				Cursor string `json:"cursor"`
			}
			if !readParams(params, &p) || p.Cursor != "" {
				return nil, invalidParams("invalid_cursor", "the list has one page; send no cursor")
			}
			return skillList{completed, []skillEntry{entry}}, nil
		},
		"skills/get": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				URI string `json:"uri"`
			}
			if !readParams(params, &p) || p.URI != entry.URI {
				return nil, invalidParams("not_found", "no such skill; skills/list names those that there are")
			}
			return skillResult{completed, entry}, nil
		},
	}
}

// readParams decodes the parameters of a method, which may be missing.
func readParams(params json.RawMessage, into any) bool {
	return params == nil || json.Unmarshal(params, into) == nil
}

func invalidParams(reason, message string) *transport.Failure {
	return &transport.Failure{
		Status:  http.StatusBadRequest,
		Code:    transport.CodeInvalidParams,
		Reason:  reason,
		Message: message,
	}
}

// addSkill adds the skill to the server's resources.
func (h *Host) addSkill(s *mcp.Server) {
	text := h.skill()
	head := frontMatterOf(text)
	s.AddResource(&mcp.Resource{
		URI:         skillURI,
		Name:        head.Name,
		Title:       "How to use " + h.name(),
		Description: head.Description,
		MIMEType:    "text/markdown",
		Size:        int64(len(text)),
	}, constant(&mcp.ResourceContents{URI: skillURI, MIMEType: "text/markdown", Text: text}))
}

// constant returns the handler of a resource that is the same for all callers.
func constant(c *mcp.ResourceContents) mcp.ResourceHandler {
	return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		copied := *c // a copy, because the SDK fills in missing fields
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&copied}}, nil
	}
}
