package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// stdin is the PATH that stands for standard input.
const stdin = "-"

// quotedPath returns a PATH quoted for the shell.
func quotedPath(path string) string {
	if path == stdin {
		return stdin
	}
	return failure.Quoted(path)
}

// fromStdin stores the text of stdin as one file in a temporary folder, and returns the path of the file. The caller
// must call remove, which deletes the folder.
func (a *app) fromStdin(ctx context.Context, w *publishFlags) (name string, remove func(), err error) {
	if a.stdinTTY {
		return "", nil, failure.New(failure.Invalid, failure.Usage, "there is nothing to publish: stdin is a terminal").
			Advise("Send the file through a pipe, or give its path.")
	}
	body, err := a.readStdin(ctx)
	if err != nil {
		return "", nil, err
	}
	if w.name == "" {
		if w.name, err = nameOf(body, w.entrypoint); err != nil {
			return "", nil, err
		}
	}
	dir, err := os.MkdirTemp("", "vitrine-*")
	if err != nil {
		return "", nil, unstoredStdin(err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // best effort: the system cleans up its temporary folder too
	name = filepath.Join(dir, w.name)
	if err := os.WriteFile(name, body, 0o600); err != nil {
		remove()
		return "", nil, unstoredStdin(err)
	}
	return name, remove, nil
}

func unstoredStdin(err error) error {
	return failure.New(failure.Other, failure.UnusablePath, "what stdin holds cannot be stored for the upload: %v", err).
		Advise("Make room in the temporary folder of the system, or name another one in TMPDIR.")
}

// readStdin reads a file of at most limits.SchemaFile bytes from stdin. It refuses an empty one, because that is what a
// failed command before the pipe leaves.
func (a *app) readStdin(ctx context.Context) ([]byte, error) {
	type read struct {
		body []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // a read from a pipe cannot be cancelled; it ends with the program
		body, err := io.ReadAll(io.LimitReader(a.in, limits.SchemaFile+1))
		done <- read{body, err}
	}()
	var r read
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r = <-done:
	}
	switch {
	case r.err != nil:
		return nil, failure.New(failure.Invalid, failure.UnusablePath, "cannot read stdin: %v", r.err).
			Advise("Give the path of a file instead.")
	case len(r.body) == 0:
		return nil, failure.New(failure.Invalid, failure.UnusablePath, "there is nothing to publish: stdin is empty").
			Advise("Check the command in front of the pipe.")
	case len(r.body) > limits.SchemaFile:
		return nil, errTooLarge(fault.FileSizeCapExceeded, "stdin holds more than %s bytes; no deployment allows more a file",
			screen.Number(limits.SchemaFile))
	}
	return r.body, nil
}

// nameOf chooses the name of the file: the entrypoint's name, or else one for HTML or for other text.
func nameOf(body []byte, entrypoint string) (string, error) {
	switch {
	case entrypoint != "":
		return entrypoint, checkName(entrypoint)
	case !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0:
		return "", failure.New(failure.Invalid, failure.Usage, "stdin holds no text, so its type is unknown").
			Advise("Name the file, with the extension of its type: --name chart.png")
	case isHTML(body):
		return "index.html", nil
	}
	return "index.md", nil
}

// isHTML reports whether a text begins like a page: with a doctype, a comment or a tag.
func isHTML(body []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n")
	if len(text) < 2 || text[0] != '<' {
		return false
	}
	return text[1] == '!' || text[1] >= 'a' && text[1] <= 'z' || text[1] >= 'A' && text[1] <= 'Z'
}

// checkName refuses a name with folders in it.
func checkName(name string) error {
	if name == path.Base(path.Clean(name)) && !strings.ContainsAny(name, `/\`) && name != "." && name != ".." {
		return nil
	}
	return failure.New(failure.Invalid, failure.Usage, "%q is not the name of a file", name).
		Advise("Give a name without a folder, such as report.html.")
}
