import type { Part } from './tokens.ts'

/** Comparison of mails that mean the same. */

/** React separates texts and marks suspended parts with comments, for browsers. */
const REACT_COMMENTS = /<!--(?: |\/?\$)-->/g
/** React asks browsers to load images early; React Email removes this since 2.3. */
const PRELOADS = /<link rel="preload" as="image"[^<>]{0,4000}>/g
/** Invisible characters that fill the preview of a mail in lists. Their number depends on the preview text. */
const PADDING = /(?:\xA0\u200C\u200B\u200D\u200E\u200F\uFEFF)+/g
const PADDING_SIGN = '\uE002'

/** HTML of React → without what only browsers need, and with one sign for the padding. */
export function simplified(html: string): string {
  return html.replace(REACT_COMMENTS, '').replace(PRELOADS, '').replace(PADDING, PADDING_SIGN)
}

/** The inverse for the padding, as long as it is in `like`. */
export function withPadding(html: string, like: string): string {
  const [padding = ''] = (like.match(PADDING) ?? []).toSorted((a, b) => b.length - a.length)
  return html.replaceAll(PADDING_SIGN, padding)
}

/** Mail → a text that is the same for equivalent mails: escapes have one spelling, blanks of plain text one length. */
export function comparable(mail: string, part: Part): string {
  if (part === 'html') return simplified(mail).replaceAll('&#x27;', '&#39;').replaceAll('&quot;', '&#34;')
  const lines = mail.replace(/[^\S\n]+/g, ' ').replace(/ ?(\n) ?/g, '$1')
  return (part === 'subject' ? lines.replace(/\n/g, ' ') : lines.replace(/\n{2,}/g, '\n\n')).trim()
}
