import { decodeAttribute } from './html-entities.ts'
import { withUnsubscribeLink } from './unsubscribe-placeholder.ts'

/** Placeholders for the unsubscribe link that other services replace and we do not: mailed as they are, they would be
 *  dead links. moving-in.md has the table. */

/** Text or HTML → the first placeholder that only a mail service can mean, as it is written; null if there is none.
 *  `{{ unsubscribe }}` is none: people also write about such variables. Linear. */
export function foreignUnsubscribe(text: string): string | null {
  return MENTION.test(text) ? firstOf(text) : null
}

/** HTML → the first of them anywhere, or the first placeholder of any template language that names unsubscribing in a
 *  link's `href`, also percent-encoded. Ours is none. Null if there is none. Linear. */
export function foreignUnsubscribeInHtml(html: string): string | null {
  if (!MENTION.test(html)) return null
  const known = firstOf(html)
  if (known !== null) return known
  let isLink = false
  for (const [, tag, quoted, single, bare] of html.matchAll(TAG_OR_HREF)) {
    if (tag === undefined && isLink) {
      const href = withUnsubscribeLink(decoded(decodeAttribute(quoted ?? single ?? bare ?? '')), '').trim()
      const found = firstOf(href) ?? variableIn(href)
      if (found !== null) return found
    }
    isLink = tag !== undefined && /^(?:a|area)$/i.test(tag)
  }
  return null
}

const MENTION = /unsub|opt.?out|asm_preferences|update_profile/i

const KNOWN = [
  /\{\{ {0,3}(?:RESEND_UNSUBSCRIBE_URL|amazonSESUnsubscribeUrl|pm:unsubscribe(?:_url)?) {0,3}\}\}/i, // Resend, SES, Postmark
  /(?:<|&lt;)%asm_(?:group_unsubscribe|global_unsubscribe|preferences)(?:_raw)?_url%(?:>|&gt;)/i, // SendGrid
  /%(?:tag_|mailing_list_)unsubscribe_(?:url|email)%/i, // Mailgun
  /%unsubscribe_email%/i, // Mailgun
  /\*\|UNSUB(?::[^|\s]{0,500})?\|\*/i, // Mailchimp
  /\*\|UPDATE_PROFILE\|\*/i, // Mailchimp
  /\[\[UNSUB_LINK(?:_[A-Z]{2,9})?\]\]/i, // Mailjet
]

/** The name of a tag, or the value of `href`: a scan that builds no tags, because HTML can have megabytes. */
const TAG_OR_HREF = /<([a-z]+)|\bhref {0,3}= {0,3}(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))/gi

/** Delimiters of Liquid, Mustache and Jinja; Braze; ERB; Mailjet; Mailchimp. */
const DELIMITERS = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['${', '}'],
  ['<%', '%>'],
  ['[[', ']]'],
  ['*|', '|*'],
] as const
const WORD = /unsub|opt[-_]?out/i
/** `%name%`, and a whole value in one pair of brackets. */
const OTHERS = [/%[a-z_.]{1,60}%/gi, /^(?:\[[\w ]{1,60}\]|\{[\w ]{1,60}\})$/g]

/** Value of `href` → its first placeholder that names unsubscribing; null if there is none. */
function variableIn(href: string): string | null {
  for (const [open, close] of DELIMITERS) {
    let end = 0
    for (let at = href.indexOf(open); at >= 0; at = href.indexOf(open, end)) {
      end = href.indexOf(close, at) + close.length
      if (end < close.length) break
      const found = href.slice(at, end)
      if (WORD.test(found)) return found
    }
  }
  for (const pattern of OTHERS) for (const [found] of href.matchAll(pattern)) if (WORD.test(found)) return found
  return null
}

function firstOf(text: string): string | null {
  for (const pattern of KNOWN) {
    const found = pattern.exec(text)
    if (found !== null) return found[0]
  }
  return null
}

/** URL → the same without percent-encoding; as it is if that is no UTF-8, such as `%unsubscribe%`. */
function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
