package content

import (
	"strings"
	"testing"
)

func TestTheScriptOfFramesHasItsPlaceInTheHead(t *testing.T) {
	const here = "⌖"
	for name, marked := range map[string]string{
		"after head":                        "<!doctype html>\n<html lang=en><!-- x --><head>⌖<title>a</title>",
		"after head with attributes":        "<!DOCTYPE html><html><HEAD profile='>'>⌖<script>1</script>",
		"after html":                        "<!doctype html><html>⌖<body>",
		"after the doctype":                 "<!doctype html>⌖<p>a",
		"after an old doctype":              "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\">⌖<title>a</title><head>",
		"after head without a doctype":      "<head>⌖<p>",
		"after comments":                    "<!-- <head> --><!doctype html>⌖<!-- <html> --><script>'<head>'</script><head>",
		"after a byte order mark":           "\xEF\xBB\xBF<!doctype html><html><head>⌖",
		"not in a fragment":                 "<h1>a</h1><head>",
		"not before a doctype that is late": "text<!doctype html><html><head>",
		"not in UTF-16":                     "\xFF\xFE<\x00h\x00e\x00a\x00d\x00>\x00",
		"not in an empty document":          "",
		"not in what is cut off":            "<head",
	} {
		want := strings.Index(marked, here)
		at, found := place([]byte(strings.Replace(marked, here, "", 1)))
		if found != (want >= 0) || found && at != want {
			t.Errorf("%s: %d %t, want %d", name, at, found, want)
		}
	}
}

func TestTheScriptOfFramesIsSmall(t *testing.T) {
	if n := len(frameElement); n > 13<<9 {
		t.Errorf("%d bytes", n)
	}
}
