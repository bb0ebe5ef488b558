import type { Rule } from './mail.ts'
import { phrasesIn, SPAM_PHRASES } from './phrases.ts'
import { emojiIn, isShouting } from './wording.ts'

export const subject: Rule = ({ input: { subject: text, headers } }, report) => {
  const line = text.trim()
  if (line === '') return report('subject_missing')
  const { length } = [...line]
  if (length < 4) report('subject_short')
  if (length > 78) report('subject_long', ` (${length} characters)`)
  if (isShouting(line, 8)) report('subject_capitals')
  if (/[!?]{2}|[$€£]{2}|!.*!.*!/.test(line)) report('subject_punctuation')
  const phrases = phrasesIn(line, SPAM_PHRASES)
  if (phrases.length > 0) report('subject_spam_phrase', `: ${phrases.slice(0, 3).join(', ')}`)
  if (emojiIn(line) > 2) report('subject_emoji', ` (${emojiIn(line)})`)
  const isAnswer = headers.some(([name]) => /^(?:in-reply-to|references)$/i.test(name))
  if (!isAnswer && FAKE_REPLY.test(line)) report('subject_fake_reply')
  if (HTML.test(line)) report('subject_html')
  if (text !== line || BLANKS.test(text)) report('subject_blanks')
}

const FAKE_REPLY = /^(?:re|aw|antw|sv|fwd?|wg|tr)(?:\[\d+\])?\s?:/i
const HTML = /<\/?[a-z][^<>]{0,200}>|&(?:amp|lt|gt|quot|nbsp|[a-z]{1,5}acute|[aouAOU]uml|szlig|#x?[0-9a-f]{2,6});/i
const BLANKS = /\s{3}|[\u00ad\u200b\u2060\ufeff]/
