package manual

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"time"
)

const skillPath = "/skill.md"

// The media types of documents.
const (
	markdown = "text/markdown; charset=utf-8"
	plain    = "text/plain; charset=utf-8"
)

// documents are written for the app host, which serves each under its path. The api host leads from the same paths to
// them.
var documents = []struct {
	path, media string
	write       func(Manual) string
}{
	{skillPath, markdown, func(m Manual) string { return m.Skill }},
	{"/skills/vitrine.zip", "application/zip", Manual.archive},
	{"/.well-known/agent-skills/index.json", "application/json", Manual.index},
	{"/llms.txt", plain, func(m Manual) string { return m.words.Replace(indexText) }},
	{"/llms-full.txt", plain, func(m Manual) string { return m.agents() + "\n" + m.body }},
	{"/agents.md", markdown, Manual.agents},
}

// Paths returns the paths of all documents.
func Paths() (paths []string) {
	for _, d := range documents {
		paths = append(paths, d.path)
	}
	return paths
}

// Document is what is served under a path.
type Document struct{ Media, Body string }

// Documents writes the documents, by path.
func (m Manual) Documents() map[string]Document {
	all := map[string]Document{}
	for _, d := range documents {
		all[d.path] = Document{Media: d.media, Body: d.write(m)}
	}
	return all
}

func (m Manual) agents() string { return m.words.Replace(agentsText) }

// schema is the only value for which the program that installs skills reads an index of this shape.
//
// Source: https://www.npmjs.com/package/skills, version 1.7.4.
const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// indexEntry describes a skill in the index.
type indexEntry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`    // from the root, because the api host leads to the index, too
	Digest      string `json:"digest"` // of the bytes at the URL
}

func (m Manual) index() string {
	text, err := json.MarshalIndent(struct {
		Schema string       `json:"$schema"`
		Skills []indexEntry `json:"skills"`
	}{schema, []indexEntry{{
		Name:        m.Head.Name,
		Type:        "skill-md",
		Description: m.Head.Description,
		URL:         skillPath,
		Digest:      Digest(m.Skill),
	}}}, "", "  ")
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(text) + "\n"
}

// firstDay is the earliest time that archives can have.
var firstDay = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// archive returns a zip of the skill. The same skill gives the same bytes, because it is stored as it is, with a fixed
// time.
func (m Manual) archive() string {
	var to bytes.Buffer
	archive := zip.NewWriter(&to)
	head := zip.FileHeader{
		Name:               "SKILL.md",
		Method:             zip.Store,
		CRC32:              crc32.ChecksumIEEE([]byte(m.Skill)),
		CompressedSize64:   uint64(len(m.Skill)),
		UncompressedSize64: uint64(len(m.Skill)),
	}
	head.SetMode(0o644)
	head.SetModTime(firstDay) //nolint:staticcheck // CreateRaw writes these fields as they are, and ignores Modified
	file, err1 := archive.CreateRaw(&head)
	if err1 != nil {
		panic(err1) // a buffer takes everything
	}
	_, err2 := file.Write([]byte(m.Skill))
	if err := errors.Join(err2, archive.Close()); err != nil {
		panic(err)
	}
	return to.String()
}
