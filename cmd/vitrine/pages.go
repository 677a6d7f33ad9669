package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/lint"
)

// checkPages refuses pages that would not work for readers, before anything is uploaded: HTML and CSS that name files of
// the folder by a leading slash where artifacts have no origins of their own, and an entrypoint that would be blank. If it
// asks, the person at the terminal chooses among the flags that allow the former. With --relative it replaces these files
// by relative copies. It returns what there is to tell.
func (a *app) checkPages(ctx context.Context, files *folder.Folder, w *publishFlags, ask bool) (told []string, err error) {
	l := linter(files, *w, media.Running(), false)
	copies, err1 := relativeCopies(files, l)
	blank, err2 := blankPage(files, l)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	reserved := slices.ContainsFunc(files.Files, func(f folder.File) bool { return strings.HasPrefix(f.Path, ".vitrine/") })
	if len(copies) > 0 || blank != "" || reserved { // only these cost a request
		own := false
		if l, own = a.deployedLinter(ctx, files, *w); own && !w.relative {
			copies = nil // the root of the origin is that of the files
		}
		if own && reserved {
			told = append(told, "Pages of the artifact cannot load files in .vitrine/, which is not theirs at its origin; "+
				"downloads have them")
		}
		if blank, err = blankPage(files, l); err != nil {
			return nil, err
		}
	}
	if refused := refuseRooted(copies, blank, files); refused != nil && !w.relative && !w.asIs {
		if !ask {
			return nil, refused
		}
		if err := a.choose(ctx, refused, w); err != nil {
			return nil, err
		}
	}
	if w.relative && len(copies) > 0 {
		told = append(told, replace(files, copies))
		if blank, err = blankPage(files, l); err != nil {
			return nil, err
		}
	}
	switch {
	case blank == "":
	case w.asIs:
		told = append(told, blank)
	default:
		return nil, failure.New(failure.Invalid, failure.BlankPage, "%s", blank).
			Advise("Publish the scripts with the page and name them by relative addresses; --as-is publishes it all the same.")
	}
	return told, nil
}

// asks reports whether there is a person at a terminal who can choose.
func (a *app) asks() bool { return a.terminal && !a.screen.IsJSON() }

func (a *app) noteAll(lines []string) {
	for _, line := range lines {
		a.screen.Note("%s", line)
	}
}

// relativeCopy is a copy of a file with relative addresses.
type relativeCopy struct {
	path    string
	body    []byte
	changed []string // paths with a leading slash in the file
}

// relativeCopies returns copies of the files that have addresses with a leading slash for files of the folder.
func relativeCopies(files *folder.Folder, l *lint.Linter) (copies []relativeCopy, err error) {
	for _, f := range files.Files {
		if !media.IsHTML(f.Path) && !media.IsStyle(f.Path) {
			continue
		}
		text, err := readPage(files, f)
		if err != nil {
			return nil, err
		}
		if body, changed := l.Relative(f.Path, text); len(changed) > 0 {
			copies = append(copies, relativeCopy{f.Path, body, changed})
		}
	}
	return copies, nil
}

// replace publishes copies instead of their files, and says which.
func replace(files *folder.Folder, copies []relativeCopy) string {
	total, names := 0, make([]string, len(copies))
	for n, c := range copies {
		files.Replace(c.path, c.body)
		total += len(c.changed)
		names[n] = fmt.Sprintf("%s (%d)", c.path, len(c.changed))
	}
	noun := "addresses are"
	if total == 1 {
		noun = "address is"
	}
	return fmt.Sprintf("%d %s relative in what is published: %s; the files here stay as they are", total, noun,
		folder.Few(names))
}

// blankPage says that readers of the entrypoint would see nothing, "" if they see something.
func blankPage(files *folder.Folder, l *lint.Linter) (string, error) {
	n := slices.IndexFunc(files.Files, func(f folder.File) bool { return f.Path == files.Entrypoint })
	if n < 0 || files.Listing || !media.IsHTML(files.Entrypoint) {
		return "", nil
	}
	text, err := readPage(files, files.Files[n])
	if err != nil {
		return "", err
	}
	scripts := l.Blank(files.Entrypoint, text)
	if len(scripts) == 0 {
		return "", nil
	}
	return fmt.Sprintf("This page will be blank for readers: %s has no text of its own, and none of its scripts loads: %s",
		files.Entrypoint, folder.Few(scripts)), nil
}

// refuseRooted refuses files that name others by a leading slash. A link to the root alone is no reason. blank says what
// readers would see of it.
func refuseRooted(copies []relativeCopy, blank string, files *folder.Folder) *failure.Failure {
	message := ""
	var others []string
	for _, c := range copies {
		n := slices.IndexFunc(c.changed, func(at string) bool { return at != "/" })
		switch {
		case n < 0:
		case message == "":
			message = fmt.Sprintf("addresses with a leading slash lead out of the artifact, as %q in %s", c.changed[n], c.path)
		default:
			others = append(others, c.path)
		}
	}
	if len(others) > 0 {
		message += ", and others in " + folder.Few(others)
	}
	f := failure.New(failure.Invalid, failure.RootRelative, "%s", message).
		Advise("Build with a relative base (%s), or give --relative to publish copies with relative addresses, "+
			"or --as-is to publish it all the same.", relativeBase(files))
	switch {
	case message == "":
		return nil
	case blank != "":
		f.Code, f.Message = failure.BlankPage, blank
	}
	return f
}

// choose asks the person whether files are published with relative addresses, as they are, or not.
func (a *app) choose(ctx context.Context, refused *failure.Failure, w *publishFlags) error {
	answer, err := a.answer(ctx, refused.Message,
		"Publish copies with relative addresses (r), publish it as it is (a), or stop (s)? [r/a/S]")
	switch {
	case err != nil:
		return err
	case answer == "r", answer == "relative":
		w.relative = true
	case answer == "a", answer == "as is":
		w.asIs = true
	default:
		return failure.New(failure.Declined, failure.WasDeclined, "stopped; nothing was published").Advise("%s", refused.Hint)
	}
	return nil
}

// builders are programs that build sites, by what is in their folders, with the option for relative addresses. Those that
// build on others come first.
var builders = []struct {
	traces *regexp.Regexp
	option string
}{
	{regexp.MustCompile(`^_next/|^next\.config\.`), "Next: assetPrefix: './', without next/font, for pages at the top"},
	{regexp.MustCompile(`^_astro/|^astro\.config\.`), "Astro has no option for it"},
	{regexp.MustCompile(`^_app/|^svelte\.config\.`), "SvelteKit: kit.paths.relative: true, without a fallback page"},
	{regexp.MustCompile(`^webpack\.config\.|^(?:js/)?(?:main|bundle)(?:\.[0-9a-f]{8,})?\.js$`), webpackOption},
	{regexp.MustCompile(`^vite\.config\.|^assets/[^/]+-[\w-]{8}\.(?:js|css)$`), viteOption},
}

const (
	viteOption    = "Vite: base: './'"
	webpackOption = "webpack: output.publicPath: 'auto'"
)

// relativeBase names the option with which the program that built a folder makes relative addresses.
func relativeBase(files *folder.Folder) string {
	for _, b := range builders {
		if slices.ContainsFunc(files.Files, func(f folder.File) bool { return b.traces.MatchString(f.Path) }) {
			return b.option
		}
	}
	return viteOption + "; " + webpackOption
}
