package content

import "vitrine/shared/platform/script"

// reporterScript posts the height of HTML in a viewer frame.
//
// scripts reports whether the document has scripts of its own, which the policy may have kept from running: elements
// other than this one, event handler attributes, or javascript: links. Data blocks and import maps are no scripts. The
// script stands behind the document, so that it sees all of it. Elements whose names hide the methods of the document
// make it false.
var reporterScript = script.Height(
	`const report=tell,run='script:not([type]),script[type=""],script[type="module"],script[type*="javascript"],` +
		`script[type*="ecmascript"]';` +
		`let scripts=false;try{scripts=d.querySelectorAll(run).length>1||!!d.querySelector('a[href^="javascript:" i]')||` +
		`d.evaluate('boolean(//@*[starts-with(name(),"on")])',d,null,3,null).booleanValue}catch{}`)

// reporter is appended to HTML in a viewer frame. The bytes before it stay as they were published.
var reporter = "\n<script>" + reporterScript + "</script>\n"
