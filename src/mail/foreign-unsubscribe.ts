import { decodeAttribute } from './html-entities.ts'
import { withUnsubscribeLink } from './unsubscribe-placeholder.ts'

/** Placeholders for the unsubscribe link that other services replace and we do not: mailed as they are, they would be
 *  dead links. migration.md has the table. */

/** Text or HTML → the first placeholder that only a mail service can mean, as it is written; null if there is none.
 *  `{{ unsubscribe }}` is none: people also write about such variables. Looks around the first MOST_MENTIONS words that
 *  such placeholders contain: whoever writes more of them before a dead link harms only their own mail. */
export function foreignUnsubscribe(text: string): string | null {
  for (const at of mentionsIn(text)) {
    const found = knownAround(text, at)
    if (found !== null) return found
  }
  return null
}

/** HTML → the first of them anywhere, or the first placeholder of any template language that names unsubscribing in a
 *  link's `href`, also percent-encoded. Ours is none. Null if there is none. */
export function foreignUnsubscribeInHtml(html: string): string | null {
  for (const at of mentionsIn(html)) {
    const found = knownAround(html, at) ?? inLinkAround(html, at)
    if (found !== null) return found
  }
  return null
}

const MENTION = /unsub|opt.?out|asm_preferences|update_profile/gi
/** A body may have megabytes of them, and each costs some microseconds of the main thread. */
const MOST_MENTIONS = 100

function* mentionsIn(text: string): Generator<number> {
  let mentions = 0
  for (const { index } of text.matchAll(MENTION)) {
    if (++mentions > MOST_MENTIONS) return
    yield index
  }
}

/** The longest that a placeholder has before and behind its mention. */
const BEFORE = 60
const BEHIND = 600

function knownAround(text: string, at: number): string | null {
  return firstOf(text.slice(Math.max(0, at - BEFORE), at + BEHIND))
}

/** The placeholder in the `href` of the last link that begins before the mention. */
function inLinkAround(html: string, at: number): string | null {
  const from = Math.max(0, at - LONGEST_TAG)
  let link = -1
  for (const { index } of html.slice(from, at).matchAll(LINK)) link = index
  if (link < 0) return null
  const [, quoted, single, bare] = HREF.exec(html.slice(from + link, at + LONGEST_TAG)) ?? []
  const href = withUnsubscribeLink(decoded(decodeAttribute(quoted ?? single ?? bare ?? '')), '').trim()
  return firstOf(href) ?? variableIn(href)
}

const KNOWN = [
  /\{\{ {0,3}(?:RESEND_UNSUBSCRIBE_URL|amazonSESUnsubscribeUrl|pm:unsubscribe(?:_url)?) {0,3}\}\}/i, // Resend, SES, Postmark
  /(?:<|&lt;)%asm_(?:group_unsubscribe|global_unsubscribe|preferences)(?:_raw)?_url%(?:>|&gt;)/i, // SendGrid
  /%(?:tag_|mailing_list_)unsubscribe_(?:url|email)%/i, // Mailgun
  /%unsubscribe_email%/i, // Mailgun
  /\*\|UNSUB(?::[^|\s]{0,500})?\|\*/i, // Mailchimp
  /\*\|UPDATE_PROFILE\|\*/i, // Mailchimp
  /\[\[UNSUB_LINK(?:_[A-Z]{2,9})?\]\]/i, // Mailjet
]

const LONGEST_TAG = 2_000
const LINK = /<a(?:rea)?\s/gi
const HREF = /^<[a-z]+\s.{0,1000}?\bhref {0,3}= {0,3}(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))/is

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
