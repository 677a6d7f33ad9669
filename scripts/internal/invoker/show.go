package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// answer is the head of a function's answer, or all of it.
type answer events.APIGatewayV2HTTPResponse

// streamedType is the media type of an answer whose body follows a prelude and eight NULs.
const streamedType = "application/vnd.awslambda.http-integration-response"

const maxPrelude = 1 << 20

// show prints an answer as HTTP would write it. It fails for a body that breaks off.
func show(w io.Writer, from io.Reader, contentType string) error {
	var a answer
	if contentType != streamedType {
		if err := json.NewDecoder(from).Decode(&a); err != nil {
			return fmt.Errorf("this is no answer for API Gateway: %w", err)
		}
		body := []byte(a.Body)
		if a.IsBase64Encoded {
			var err error
			if body, err = base64.StdEncoding.DecodeString(a.Body); err != nil {
				return err
			}
		}
		return a.print(w, bytes.NewReader(body))
	}
	r := bufio.NewReader(from)
	prelude, err := readPrelude(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(prelude, &a); err != nil {
		return fmt.Errorf("the prelude of the answer: %w", err)
	}
	return a.print(w, r)
}

// readPrelude reads up to the eight NULs.
func readPrelude(r io.ByteReader) ([]byte, error) {
	end := make([]byte, 8)
	var prelude []byte
	for !bytes.HasSuffix(prelude, end) {
		b, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("the answer ends in its prelude: %w", err)
		}
		if prelude = append(prelude, b); len(prelude) > maxPrelude {
			return nil, fmt.Errorf("the answer has no prelude")
		}
	}
	return bytes.TrimSuffix(prelude, end), nil
}

func (a answer) print(w io.Writer, body io.Reader) error {
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
	_, err := io.Copy(w, body)
	return err
}
