import { textOf } from './compose.ts'
import type { MailContent } from './content.ts'
import { type HtmlAttribute, type HtmlTag, RAW_TEXT, scanHtml } from './html-scan.ts'
import { asksNotToTrack, REMOVED } from './no-track.ts'
import { createTrackingLinks, isTrackable, type LinkScope, type TrackingLinks } from './tracking-link.ts'
import { withUnsubscribeLink } from './unsubscribe-placeholder.ts'

/** Tracking of one recipient's mail; plain data, because it crosses a thread boundary. */
export interface Tracking {
  deliveryId: string
  /** The secret of createTrackingLinks. */
  secret: Uint8Array
  /** Start of links, without a final slash. */
  baseUrl: string
  /** The scope of the links: the host of `baseUrl`. */
  scope: LinkScope
  opens: boolean
  clicks: boolean
  /** Replace the placeholder of unsubscribe-placeholder.ts with the recipient's link. */
  unsubscribe: boolean
}

/** Content → the same with one recipient's links in its HTML. The text part changes only at the placeholder, even if
 *  derived from the HTML. Never throws. */
export function trackContent(content: MailContent, tracking: Tracking): MailContent {
  const links = createTrackingLinks(tracking.secret, tracking.scope)
  const stop = tracking.baseUrl + links.unsubscribe(tracking.deliveryId)
  const filled = (body: string | null) =>
    body !== null && tracking.unsubscribe ? withUnsubscribeLink(body, stop) : body
  const html = filled(content.html)
  return {
    ...content,
    html: html === null ? null : trackHtml(html, tracking, links),
    text: filled(textOf(content)),
  }
}

/** HTML of a mail → the same bytes, except that each http(s) `href` of an `a` or `area` becomes a tracking link
 *  (`clicks`), and a pixel is added before the last `</body>` or at the end (`opens`). Unchanged: links that
 *  ask for it (no-track.ts), of another scheme, in comments (also conditional ones), too long, and after the first 10,000.
 *  Linear in the HTML, never throws. */
export function trackHtml(html: string, tracking: Tracking, links: TrackingLinks): string {
  const { deliveryId, baseUrl } = tracking
  if (!tracking.opens && !tracking.clicks) return html

  const own = `${baseUrl}/t/`
  const edits: Edit[] = []
  const linkFor = (href: string, tag: HtmlTag): string | null => {
    if (!tracking.clicks || edits.length >= MAX_LINKS || !isTrackable(href) || href.startsWith(own)) return null
    return asksNotToTrack(tag) ? null : baseUrl + links.click(deliveryId, href)
  }
  const end = createEndFinder(html)
  scanHtml(html, {
    ...end.visitor,
    tag(tag) {
      end.visitor.tag(tag)
      if (tag.kind !== 'open' || (tag.name !== 'a' && tag.name !== 'area')) return
      const href = tag.attributes.find(({ name }) => name === 'href')
      if (href === undefined) return
      const link = linkFor(trimUrl(href.value), tag)
      if (link !== null) edits.push({ from: href.valueStart, to: href.valueEnd, piece: link })
      if (!tracking.clicks) return
      for (const attribute of tag.attributes) if (attribute.name === REMOVED) edits.push(removal(html, attribute))
    },
  })
  if (tracking.opens) {
    const piece = `<img src="${baseUrl}${links.open(deliveryId)}" width="1" height="1" alt="" style="border:0">`
    edits.push({ from: end.at(), to: end.at(), piece })
    edits.sort((a, b) => a.from - b.from) // careless mails have links behind their body
  }
  return edited(html, edits)
}

/** Each adds some hundred bytes per recipient; a page of nothing but links would triple in size. */
const MAX_LINKS = 10_000

/** URL → the same without C0 controls and blanks at both ends, as browsers read it. WHATWG URL §4.4 */
function trimUrl(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= SPACE) start++
  while (end > start && text.charCodeAt(end - 1) <= SPACE) end--
  return text.slice(start, end)
}

const SPACE = 32

/** Removes an attribute with its value, its quotes and the blank before it. */
function removal(html: string, { nameStart, valueStart, valueEnd }: HtmlAttribute): Edit {
  const before = html[valueStart - 1]
  const isQuoted = valueStart > nameStart && (before === '"' || before === "'") && html[valueEnd] === before
  const isBlank = nameStart > 0 && html.charCodeAt(nameStart - 1) <= SPACE
  return { from: isBlank ? nameStart - 1 : nameStart, to: isQuoted ? valueEnd + 1 : valueEnd, piece: '' }
}

/** Replaces `html.slice(from, to)` by `piece`. */
interface Edit {
  from: number
  to: number
  piece: string
}

/** Ordered, non-overlapping edits → the edited text. */
function edited(text: string, edits: readonly Edit[]): string {
  let made = ''
  let copied = 0
  for (const { from, to, piece } of edits) {
    made += text.slice(copied, from) + piece
    copied = to
  }
  return made + text.slice(copied)
}

/** Finds where to add an element at the end of HTML: before its last `</body>`, else at the end, or before something
 *  unclosed (a tag, a comment, a script), which would swallow it. */
function createEndFinder(html: string) {
  let bodyEnd = -1
  let rawFrom = -1
  let unended = html.length
  return {
    visitor: {
      tag({ kind, name, start }: HtmlTag) {
        if (kind === 'close' && name === 'body') bodyEnd = start
        rawFrom = kind === 'open' && RAW_TEXT.has(name) ? start : -1
      },
      text(start: number, end: number) {
        if (end === html.length && UNENDED_TAG.test(html.slice(start, start + 3))) unended = start
      },
      comment(start: number, end: number) {
        const signs = html.startsWith('<!--', start) ? COMMENT_ENDS : ['>']
        if (end === html.length && !signs.some((sign) => html.endsWith(sign))) unended = start
      },
    },
    at: () => (bodyEnd >= 0 ? bodyEnd : rawFrom >= 0 ? rawFrom : unended),
  }
}

const UNENDED_TAG = /^<\/?[a-z]/i
const COMMENT_ENDS = ['-->', '--!>']
