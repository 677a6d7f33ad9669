// Command lambda runs the content host as a Lambda function.
package main

import (
	"vitrine/functions/assembly/content"
	"vitrine/functions/assembly/function"
)

func main() {
	function.Main(function.Host{
		Name:    "content",
		Rings:   content.Rings,
		Objects: true,
		Handler: content.Handler,
	})
}
