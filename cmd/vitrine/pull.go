package main

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/edits"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// pullRequest holds the flags of pull.
type pullRequest struct {
	path     string
	revision id.Revision
	output   string
	force    bool
}

func (a *app) pullCommand() *cobra.Command {
	var o pullRequest
	var revision string
	cmd := a.command("pull ARTIFACT PATH", "Print or save a file of an artifact",
		pullGuide, exactly(2, "an ARTIFACT and the PATH of a file in it"),
		func(ctx context.Context, args []string) error {
			if o.path = args[1]; o.path == "" {
				return failure.New(failure.Invalid, failure.Usage,
					"the path is empty").Advise("vitrine show with the id of the artifact lists its files.")
			}
			t, err := parseTarget(args[0])
			if err != nil {
				return err
			}
			if o.revision, err = t.of(revision); err != nil {
				return err
			}
			return a.pull(ctx, t, o)
		})
	f := cmd.Flags()
	f.StringVar(&revision, "revision-id", "", "of this revision instead of the newest")
	f.StringVar(&o.output, "output", "", "save to this file, - for stdout")
	f.BoolVar(&o.force, "force", false, "let --output replace a file")
	return cmd
}

// pulled is the JSON result of pull. Body is set for text that fits, Output if the file was saved.
type pulled struct {
	SchemaVersion string `json:"schema_version"`
	Path          string `json:"path"`
	SHA256        string `json:"sha256"`
	SizeBytes     int64  `json:"size_bytes"`
	ContentType   string `json:"content_type"`
	// IsBinary is nil for a file that was saved, because it is not known.
	IsBinary *bool   `json:"is_binary,omitempty"`
	Body     *string `json:"body,omitempty"`
	Output   string  `json:"output,omitempty"`
}

func (a *app) pull(ctx context.Context, t target, o pullRequest) (err error) {
	switch {
	case o.force && (o.output == "" || o.output == stdout):
		return failure.New(failure.Invalid, failure.Usage,
			"--force goes with --output FILE").Advise("Name the file to replace: --output FILE --force")
	case o.output == stdout && a.screen.IsJSON():
		return failure.New(failure.Invalid, failure.Usage,
			"--output - and --json both write to stdout").Advise("Leave one of them out, or name a file: --output FILE")
	case o.output == stdout:
		return a.pullOut(ctx, t, o)
	case o.output != "":
		return a.pullTo(ctx, t, o)
	}
	var p pulled
	if t.isShare() {
		p, err = a.pullShared(ctx, t, o)
	} else {
		err = a.withArtifact(ctx, t, func(ctx context.Context, h *artifactContext) error {
			f, err := h.account.Text(ctx, h.artifact, o.revision, o.path)
			p = pulled{schemaVersion, f.Path, f.SHA256, f.SizeBytes, f.ContentType, &f.IsBinary, f.Body, ""}
			return missing(err)
		})
	}
	switch {
	case err != nil:
		return err
	case a.screen.IsJSON():
		return a.screen.Object(p)
	case p.Body == nil:
		return unprintable(p, t, o)
	}
	return a.screen.Verbatim([]byte(*p.Body))
}

// missing adds a hint to not_found, because the server does not say whether the artifact or the file is missing.
func missing(err error) error {
	if f := failure.Of(err); err != nil && f.Code == "not_found" {
		_ = f.Advise("Check the id and the path; vitrine show with the id lists the files.") // f points into err
	}
	return err
}

func unprintable(p pulled, t target, o pullRequest) error {
	why := "is larger than what is printed"
	if *p.IsBinary {
		why = "is no text"
	}
	command := "the same command with --output FILE" // a share URL is not repeated, because it grants access
	if !t.isShare() {
		command = "vitrine pull " + string(t.artifact) + " " + failure.Quoted(o.path)
		if o.revision != "" {
			command += " --revision-id " + string(o.revision)
		}
		command += " --output " + failure.Quoted(path.Base(o.path))
	}
	return failure.New(failure.Invalid, failure.Unshowable, "%q %s (%s, %s)", p.Path, why, p.ContentType,
		screen.Bytes(p.SizeBytes)).
		Advise("Save it: %s", command)
}

// stdout is the file name that stands for standard output.
const stdout = "-"

// pullOut writes a file of any kind to stdout, but only once all of it has arrived as announced.
func (a *app) pullOut(ctx context.Context, t target, o pullRequest) error {
	_, f, d, err := a.lookFor(ctx, t, o)
	if err != nil {
		return err
	}
	body, err := d.Fetch(ctx, f, maxFile)
	if errors.Is(err, client.ErrLarge) {
		return failure.New(failure.Invalid, failure.Unshowable, "%q is larger than what is printed (%s)", f.Path,
			screen.Bytes(f.SizeBytes)).
			Advise("Save it: --output FILE")
	}
	if err != nil {
		return err
	}
	return a.screen.Verbatim(body)
}

// maxShown is the largest text that is read through a share URL or compared, in bytes.
const maxShown = limits.InlineAnswer

// pullShared reads a file through a share URL.
func (a *app) pullShared(ctx context.Context, t target, o pullRequest) (p pulled, err error) {
	_, f, d, err := a.lookFor(ctx, t, o)
	if err != nil {
		return p, err
	}
	body, err := d.Fetch(ctx, f, maxShown)
	if err != nil && !errors.Is(err, client.ErrLarge) {
		return p, err
	}
	binary := err == nil && !edits.IsText(body)
	p = pulled{schemaVersion, f.Path, f.SHA256, f.SizeBytes, f.ContentType, &binary, nil, ""}
	if text := string(body); err == nil && !binary {
		p.Body = &text
	}
	return p, nil
}

// lookFor returns the requested file, its revision, and the deployment that serves it.
func (a *app) lookFor(
	ctx context.Context,
	t target,
	o pullRequest,
) (v contract.AgentView, f contract.AgentViewFile, d *client.Deployment, err error) {
	if v, d, err = a.lookAt(ctx, t, o.revision); err == nil {
		f, err = fileOf(v, o.path)
	}
	return v, f, d, err
}

func fileOf(v contract.AgentView, name string) (contract.AgentViewFile, error) {
	i := slices.IndexFunc(v.Files, func(f contract.AgentViewFile) bool { return f.Path == name })
	if i < 0 {
		return contract.AgentViewFile{}, client.Missing(name)
	}
	return v.Files[i], nil
}

// pullTo saves a file of any kind and size.
func (a *app) pullTo(ctx context.Context, t target, o pullRequest) error {
	to, err := save.To(o.output, o.force)
	if err != nil {
		return err
	}
	v, f, d, err := a.lookFor(ctx, t, o)
	if err != nil {
		return err
	}
	defer to.Discard()
	if err := d.Download(ctx, f, to.Start); err != nil {
		return err
	}
	if err := to.Keep(); err != nil {
		return err
	}
	if a.screen.IsJSON() {
		return a.screen.Object(pulled{
			SchemaVersion: schemaVersion,
			Path:          f.Path,
			SHA256:        f.SHA256,
			SizeBytes:     f.SizeBytes,
			ContentType:   f.ContentType,
			Output:        o.output,
		})
	}
	return a.screen.Result(o.output, screen.Row{Name: "Saved", Value: f.Path + ", " + screen.Bytes(f.SizeBytes)},
		screen.Row{Name: "Revision", Value: string(v.RevisionID)}, screen.Row{Name: "SHA-256", Value: f.SHA256})
}

const pullGuide = `vitrine pull ARTIFACT PATH prints a file of an artifact unchanged.

  vitrine pull art_00000000000000000000000002 index.html
  vitrine pull art_00000000000000000000000002 logo.png --output logo.png
  vitrine pull art_00000000000000000000000002 index.html --json

Only text is printed to stdout; other files, and those larger than about 5 MB, need --output.
--output - writes any file to stdout, but control characters never to a terminal.
With --json: schema_version, path, sha256, size_bytes, content_type, is_binary, and body for text;
with --output also output, and neither is_binary nor body.

Flags:
  --revision-id ID  the file of this revision instead of the newest; ARTIFACT may be the link of
                    its page (?revision=rev_..., in quotes) instead
  --output FILE     save it; an existing file is not replaced; - is stdout
  --force           replace an existing regular file
` + readNote + `A share URL needs no sign-in.
`
