// Command lambda is the app host as a Lambda function.
package main

import (
	"vitrine/functions/assembly/app"
	"vitrine/functions/assembly/function"
)

func main() {
	function.Main(function.Host{Name: "app", Rings: app.Rings, Handler: app.Handler})
}
