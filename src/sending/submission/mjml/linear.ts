/** Parts of the MJML library that bundle.ts replaces: the library's own are regular expressions that some documents occupy for
 *  minutes, and a thread in a regular expression cannot be ended. These read the text once. */

/** Body, inlined CSS and the URLs of fonts by name → the elements that load the fonts they use. */
export function buildFontsTags(
  content: string,
  inlineStyle: readonly string[],
  fonts: Record<string, string> = {},
): string {
  const families = [...familiesIn(content.split('"')), ...familiesIn(inlineStyle.flatMap((css) => css.split(/[;}]/)))]
  const used = Object.entries(fonts).filter(([name]) => families.some((each) => each.includes(name.toLowerCase())))
  if (used.length === 0) return ''
  const links = used.map(([, url]) => `<link href="${url}" rel="stylesheet" type="text/css">`)
  const imports = used.map(([, url]) => `@import url(${url});`)
  const style = `<style type="text/css">\n${imports.join('\n')}\n</style>`
  return `\n<!--[if !mso]><!-->\n${links.join('\n')}\n${style}\n<!--<![endif]-->\n`
}

/** Parts of a text → what follows `font-family:` in each, in lower case. */
function familiesIn(parts: string[]): string[] {
  return parts.flatMap((part) => {
    const lower = part.toLowerCase()
    const start = lower.indexOf('font-family:')
    return start === -1 ? [] : [lower.slice(start)]
  })
}

/** Html → the same with less white space in its comments for Outlook, which would show it. */
export default function minifyOutlookConditionals(html: string): string {
  let result = ''
  let at = 0
  for (;;) {
    const start = html.indexOf('<!--[if ', at)
    const end = start === -1 ? -1 : html.indexOf('<![endif]-->', start)
    if (end === -1) return result + html.slice(at)
    result += html.slice(at, start)
    const inside = html.slice(start, end).trimEnd()
    result += inside.replace(/>\s+(?=<)/g, '>').replace(/\s{2,}/g, ' ')
    at = end + '<![endif]-->'.length
    result += html.slice(end, at)
  }
}
