package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"vitrine/scripts/internal/localapi/gateway"
)

// show prints an answer as HTTP would write it. It fails for a body that breaks off.
func show(w io.Writer, from io.Reader, contentType string) error {
	a, body, err := read(from, contentType)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d %s\n", a.StatusCode, http.StatusText(a.StatusCode))
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		fmt.Fprintf(w, "%s: %s\n", name, a.Headers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(a.MultiValueHeaders)) {
		fmt.Fprintf(w, "%s: %s\n", name, strings.Join(a.MultiValueHeaders[name], ", "))
	}
	for _, cookie := range a.Cookies {
		fmt.Fprintf(w, "Set-Cookie: %s\n", cookie)
	}
	fmt.Fprintln(w)
	_, err = io.Copy(w, body)
	return err
}

func read(from io.Reader, contentType string) (*gateway.Answer, io.Reader, error) {
	if contentType == gateway.StreamMedia {
		return gateway.Streamed(from)
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		return nil, nil, err
	}
	a, err := gateway.Whole(raw)
	if err != nil {
		return nil, nil, err
	}
	return a, strings.NewReader(a.Body), nil
}
