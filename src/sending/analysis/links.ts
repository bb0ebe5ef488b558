import { cutText } from '../../mail/cut-text.ts'
import { withoutNoTrackScheme } from '../../mail/no-track.ts'
import { mentionsUnsubscribe } from '../../mail/unsubscribe-placeholder.ts'
import { hostShown, isIpHost, isLocalHost, isLookAlike, isShortener, registeredDomainOf } from './hosts.ts'
import type { ExaminedLink, LinkProblem, Rule } from './mail.ts'
import { oneLine, type Page } from './page.ts'
import { VARIABLE_BEGINS } from './variables.ts'

/** HTML and the author's text part → their links in order, each checked. Links that are only in the text come last.
 *  At most 1000; a mail with more is reported by its number of links only. */
export function examineLinks(page: Page | null, text: string): ExaminedLink[] {
  const inPage = (page?.links ?? [])
    .filter(
      ({ href, tag }) => href !== undefined || !tag.attributes.some(({ name }) => name === 'name' || name === 'id'),
    )
    .slice(0, MOST_LINKS)
    .map((link) => {
      const href = withoutNoTrackScheme(link.href ?? '')
      return { url: cutText(oneLine(href), MAX_SHOWN), text: link.text, problems: problemsOf(href.trim(), link.text) }
    })
  const known = new Set(inPage.map(({ url }) => url))
  const inText = [...new Set(text.slice(0, MAX_TEXT).match(WEB_ADDRESS) ?? [])]
    .map(withoutPunctuation)
    .filter((address) => !known.has(address))
    .slice(0, MOST_LINKS - inPage.length)
    .map((url) => ({ url, text: url, problems: problemsOf(url, url) }))
  return [...inPage, ...inText]
}

export const links: Rule = (mail, report) => {
  const byCode = new Map<LinkProblem, ExaminedLink[]>()
  for (const link of mail.links) {
    for (const problem of link.problems) {
      const others = byCode.get(problem)
      if (others === undefined) byCode.set(problem, [link])
      else others.push(link)
    }
  }
  const field = mail.page === null ? 'text' : 'html'
  for (const [problem, found] of byCode) report(problem, exampleOf(found), field)
  const count = mail.page?.links.length ?? mail.links.length
  if (count > MANY_LINKS) report('links_many', ` (${count})`, field)
}

const MOST_LINKS = 1000 // ours
const MANY_LINKS = 60 // ours: a long newsletter has forty
const MAX_TEXT = 200_000 // ours
const MAX_SHOWN = 2000 // ours: an address in an answer
const WEB_ADDRESS = /\bhttps?:\/\/[^\s<>"']{1,2000}/gi
const FOLLOWED = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:', 'cid:', 'webcal:', 'geo:', 'xmpp:', 'sip:'])
const VAGUE =
  /^(?:click here|here|click|read more|more|link|hier|hier klicken|klicken sie hier|mehr|ici|cliquez ici|aquí|haga clic aquí)[.!»> ]*$/i

/** Address in a text → the same without punctuation of the surrounding sentence. */
function withoutPunctuation(address: string): string {
  let end = address.length
  while (end > 0 && PUNCTUATION.includes(address.charAt(end - 1))) end--
  return address.slice(0, end)
}

const PUNCTUATION = `.,;:!?)]'"»`

function problemsOf(href: string, text: string): LinkProblem[] {
  if (href === '' || href === '#') return ['link_empty']
  if (VARIABLE_BEGINS.test(href)) return [] // reported by variables.ts
  if (mentionsUnsubscribe(href)) return [] // replaced by the recipient's own link
  if (href.startsWith('#')) return []
  if (href.startsWith('//')) return ['link_relative']
  const scheme = /^([a-z][a-z0-9+.-]{0,40}:)/i.exec(href.replace(/[\t\n\r]/g, ''))?.[1]?.toLowerCase()
  if (scheme === undefined) return ['link_relative']
  const problems: LinkProblem[] = []
  if (text === '') problems.push('link_without_text')
  else if (VAGUE.test(text)) problems.push('link_vague_text')
  if (!FOLLOWED.has(scheme)) return [...problems, 'link_scheme']
  if (scheme !== 'http:' && scheme !== 'https:') return problems
  const url = URL.parse(href)
  if (url === null) return [...problems, 'link_invalid']
  return [...problems, ...webProblems(url, text)]
}

function webProblems(url: URL, text: string): LinkProblem[] {
  const host = url.hostname.replace(/\.$/, '')
  const problems: LinkProblem[] = []
  if (url.protocol === 'http:') problems.push('link_insecure')
  if (url.username !== '' || url.password !== '') problems.push('link_credentials')
  if (isIpHost(host)) problems.push('link_ip_host')
  else if (isLocalHost(host)) problems.push('link_local_host')
  if (isShortener(host)) problems.push('link_shortener')
  if (isLookAlike(host)) problems.push('link_look_alike')
  const shown = hostShown(text)
  if (shown !== null && registeredDomainOf(shown) !== registeredDomainOf(host)) problems.push('link_text_mismatch')
  return problems
}

function exampleOf([first, ...others]: ExaminedLink[]): string {
  const url = cutText(first!.url, 100)
  const shown = url === '' || url === first!.text ? `"${cutText(first!.text, 60)}"` : url
  return `: ${shown}${others.length === 0 ? '' : ` and ${others.length} more`}`
}
