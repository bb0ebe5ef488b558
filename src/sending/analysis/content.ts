import { cutText } from '../../mail/cut-text.ts'
import { foreignUnsubscribe, foreignUnsubscribeInHtml } from '../../mail/foreign-unsubscribe.ts'
import { findUnsubscribe } from '../../mail/unsubscribe-placeholder.ts'
import { getHeader, type Mail, type Rule } from './mail.ts'
import { BULK_PHRASES, phrasesIn, SPAM_PHRASES, UNSUBSCRIBE_WORDS } from './phrases.ts'
import { isShouting, longWordsOf } from './wording.ts'

/** Checks the content: its parts agree, nothing is hidden, and no phrase is typical of spam. */
export const content: Rule = (mail, report) => {
  const { input, page, text } = mail
  const shown = shownText(mail)
  const field = page === null ? 'text' : 'html'
  if (shown === '' && (page === null || page.images.length === 0)) return report('content_empty', '', field)

  if (input.text === null) report('text_missing')
  if (text.trim() === '') report('text_empty')
  else if (input.text !== null && page !== null && differ(page.visibleText, input.text)) report('text_html_mismatch')

  const phrases = phrasesIn(shown.slice(0, MAX_READ), SPAM_PHRASES)
  if (phrases.length >= 3) report('content_spam_phrases', `: ${phrases.slice(0, 5).join(', ')}`, field)
  if (isShouting(shown, 100)) report('content_capitals', '', field)
  if (/\blorem ipsum\b/i.test(shown)) report('content_placeholder', ': lorem ipsum', field)
  if (page === null) return
  if (page.hiddenText.length > LONG_PREVIEW) report('content_hidden_text', ` (${page.hiddenText.length} characters)`)
  if (page.sameColourText !== '') report('content_invisible_colour', `: "${cutText(page.sameColourText, 60)}"`)
}

/** Checks that bulk mail has an unsubscribe link and header. RFC 8058; required by Gmail and Yahoo. */
export const unsubscribe: Rule = (mail, report) => {
  const { input, links } = mail
  const isSet = input.hasUnsubscribe && getHeader(input, 'list-unsubscribe') === null
  const foreign = foreignUnsubscribeInHtml(input.html ?? '') ?? foreignUnsubscribe(input.text ?? '')
  const dead = foreign ?? (isSet ? null : findUnsubscribe(`${input.html ?? ''}\n${input.text ?? ''}`))
  if (dead !== null) report('unsubscribe_link_dead', `: ${cutText(dead, 60)}`)
  const hasLink = links.some(({ url, text }) => UNSUBSCRIBE_WORDS.test(text) || UNSUBSCRIBE_WORDS.test(url))
  if (hasLink && !input.hasUnsubscribe) return report('unsubscribe_header_missing')
  if (hasLink || !looksLikeBulk(mail)) return
  report(input.hasUnsubscribe ? 'unsubscribe_link_missing' : 'unsubscribe_missing')
}

const LONG_PREVIEW = 200 // ours: the preview text in a list of mails
const MAX_READ = 200_000 // ours

function shownText({ page, text }: Mail): string {
  return page === null ? text.trim() : page.visibleText
}

/** True if the two have few words in common. Short texts are not compared. */
function differ(html: string, text: string): boolean {
  const inHtml = longWordsOf(html)
  const inText = longWordsOf(text)
  if (inHtml.size < 10 && inText.size < 10) return false
  const common = inHtml.intersection(inText).size
  return common < inHtml.size * 0.4 || common < inText.size * 0.4
}

function looksLikeBulk(mail: Mail): boolean {
  const { input, page } = mail
  if (getHeader(input, 'list-id') !== null || /bulk|list/i.test(getHeader(input, 'precedence') ?? '')) return true
  const hints = phrasesIn(`${input.subject} ${shownText(mail).slice(0, MAX_READ)}`, BULK_PHRASES).length
  return hints >= 2 || (hints === 1 && (page?.links.length ?? 0) >= 10)
}
