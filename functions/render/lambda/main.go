// Command lambda runs the render host as a Lambda function, behind the gateway of the content host.
package main

import (
	"vitrine/functions/assembly/function"
	"vitrine/functions/assembly/render"
)

func main() {
	function.Main(function.Host{
		Name:    "render",
		Rings:   render.Rings,
		Objects: true,
		Handler: render.Handler,
	})
}
