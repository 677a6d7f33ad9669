// Command lambda runs the upload host as a Lambda function.
package main

import (
	"vitrine/functions/assembly/function"
	"vitrine/functions/assembly/upload"
)

func main() {
	function.Main(function.Host{
		Name:    "upload",
		Rings:   upload.Rings,
		Objects: true,
		Handler: upload.Handler,
	})
}
