package script

// Height returns the script by which a document in a viewer frame posts its height to the page around it. The message
// is {type, height, scripts}, on DOMContentLoaded, load and every change of size. The script skips messages that say what
// the last one said, and heights that are not above 0 or exceed 50,000,000. declarations have to define scripts, which is
// posted, and report, which has to call tell.
func Height(declarations string) string {
	return `(()=>{` +
		`let told=0,said=false;` +
		`const d=document,tell=()=>{` +
		`const e=d.documentElement,b=d.body;` +
		`const height=Math.ceil(Math.max(e.offsetHeight,b?b.scrollHeight:0));` +
		`if(height===told&&scripts===said||!(height>0&&height<=50000000))return;` +
		`told=height;said=scripts;parent.postMessage({type:"vitrine:viewer-height",height,scripts},"*")};` +
		declarations +
		`addEventListener("DOMContentLoaded",report);addEventListener("load",report);` +
		`if(window.ResizeObserver){const o=new ResizeObserver(report),body=()=>d.body&&o.observe(d.body);` +
		`o.observe(d.documentElement);body();addEventListener("DOMContentLoaded",body)}` +
		`})()`
}

// Place is for the declarations of Height. It defines prefix, the path of the artifact at its host, and place, which posts
// where in the artifact the document is: {type, path, hash, title}, the path without prefix, or empty for the list of all
// files. It posts that after each navigation, and skips what it posted last and what is outside the artifact. It posts where
// the target of a fragment is, too: {type, top}, in pixels from the top of the document, because browsers do not scroll the
// page around a frame of another site to it. After load that waits until the frame is as tall as the document.
const Place = `const prefix=location.pathname.split("/",3).join("/")+"/";let posted;` +
	`const place=()=>{const at={type:"vitrine:place",path:location.pathname.slice(prefix.length),hash:location.hash,` +
	"title:`${d.title}`},text=JSON.stringify(at);" +
	`if((location.pathname+"/").startsWith(prefix)&&text!==posted)parent.postMessage(at,"*");posted=text};` +
	`for(const moved of ["load","hashchange","popstate","pageshow"])addEventListener(moved,place);` +
	`const seek=after=>setTimeout(()=>{const at=d.querySelector(":target");` +
	`if(at)parent.postMessage({type:"vitrine:target",top:at.getBoundingClientRect().top+scrollY},"*")},after);` +
	`addEventListener("load",()=>seek(200));addEventListener("hashchange",()=>seek(0));` +
	`addEventListener("click",e=>{if(!e.defaultPrevented&&e.target.closest?.("a")?.hash)seek(0)});`
