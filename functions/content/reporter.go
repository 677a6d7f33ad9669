package content

// reporterScript posts the height of the document to the page around a viewer frame: {type, height} on
// DOMContentLoaded, load and every change of size. It omits heights that did not change, are not above 0 or exceed
// 50,000,000.
const reporterScript = `(()=>{` +
	`let told=0;` +
	`const tell=()=>{` +
	`const e=document.documentElement,b=document.body;` +
	`const height=Math.ceil(Math.max(e.offsetHeight,b?b.scrollHeight:0));` +
	`if(height===told||!(height>0&&height<=50000000))return;` +
	`told=height;parent.postMessage({type:"vitrine:viewer-height",height},"*")};` +
	`addEventListener("DOMContentLoaded",tell);addEventListener("load",tell);` +
	`if(window.ResizeObserver){const o=new ResizeObserver(tell);o.observe(document.documentElement);` +
	`if(document.body)o.observe(document.body)}` +
	`})()`

// reporter is appended to HTML in a viewer frame. The bytes before it stay as they were published.
const reporter = "\n<script>" + reporterScript + "</script>\n"
