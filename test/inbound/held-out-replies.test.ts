import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parseMail } from '../../src/mail/parse.ts'
import { replyOf } from '../../src/mail/reply-html.ts'

/** Answers as mail programs send them, MIME and all. Another author than that of the cutter wrote them, before reading it.
 *  `new`: what the person wrote; for answers between the quoted lines and for forwarded mail, all of it. Those of round 2
 *  are younger than the last repair of the cutter, and did not shape it. */
interface HeldOut {
  round?: 2
  client: string
  language: string
  kind: string
  new: string
  raw: string
}

const HEAD = `From: Ann Example <ann@client.example>
To: reply+k3v9x2m7@in.example.com
Date: Mon, 23 Nov 2026 12:05:31 +0100
Message-ID: <1@client.example>
In-Reply-To: <0193@mail.example.com>
References: <0193@mail.example.com>
`
const LINE = '17  Blue mug, handle on the left, second choice   9.00\n'
const MAILS: HeldOut[] = readFileSync(new URL('./held-out-replies.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** The words alone: MIME, line ends and invisible characters are not the cutter's. */
const words = (text: string) => text.replaceAll(/[\s\p{Cf}]+/gu, ' ').trim()

const ENTITIES: Record<string, string> = { '&nbsp;': ' ', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
const visible = (html: string) =>
  html
    .replaceAll(/<(?:style|script|head)\b.*?<\/(?:style|script|head)>/gs, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity)

async function replyIn({ raw }: HeldOut): Promise<{ text: string; html: string | null }> {
  const quote = (mark: string) => `${mark}${LINE}`.repeat(2_000_000 / (mark.length + LINE.length))
  const mail = `${HEAD}${raw.replace('{{2 MB}}', () => quote('')).replace('{{2 MB of >}}', () => quote('> '))}`
  const { parsed } = await parseMail(Buffer.from(mail.replaceAll('\n', '\r\n')), new Promise<never>(() => {}))
  const { subject = '' } = parsed.headers
  const { text, html } = replyOf(subject, parsed.textBody, parsed.htmlBody)
  return { text: text ?? parsed.textBody, html }
}

type Verdict = 'right' | 'kept too much' | 'lost text'
function judge(cut: string, written: string): Verdict {
  const [found, expected] = [words(cut), words(written)]
  if (found === expected) return 'right'
  let at = 0
  for (const line of written.split('\n').map(words)) {
    at = found.indexOf(line, at)
    if (at === -1) return 'lost text'
    at += line.length
  }
  return 'kept too much'
}

test('nine of ten held-out answers are cut exactly, also in HTML, and two lose words that no mark shows', async () => {
  const verdicts = await Promise.all(
    MAILS.map(async (mail) => {
      const { text, html } = await replyIn(mail)
      const name = `${mail.client} ${mail.language} ${mail.kind}: ${text.slice(0, 60)}`
      return { name, text: judge(text, mail.new), html: html === null ? null : judge(visible(html), mail.new) }
    }),
  )
  const named = (verdict: Verdict) => verdicts.filter(({ text }) => text === verdict).map(({ name }) => name)
  expect(named('lost text')).toEqual([
    expect.stringMatching(/^thunderbird en own: From here/), // a line of the author's that begins with `>`
    expect.stringMatching(/^outlook-classic en inline: See below/), // answers between the lines that Outlook quotes
  ])
  expect(named('kept too much').slice(MAILS.length / 10)).toEqual([])
  const wrong = verdicts.filter(({ html }) => html !== null && html !== 'right')
  expect(wrong.map(({ name }) => name)).toEqual([expect.stringMatching(/^outlook-classic en inline/)])
})
