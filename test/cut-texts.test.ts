import { expect, test } from 'bun:test'
import { diagnosticText } from '../src/mail/delivery-status.ts'
import { reportContext } from '../src/mail/dsn.ts'
import { readParts } from '../src/mail/mime-parts.ts'
import type { RelayCount } from '../src/model/relay.ts'
import { judgeComplaint } from '../src/receiving/feedback/complaint.ts'
import { onlyKept } from '../src/receiving/feedback/judgement.ts'
import { repliedEvent } from '../src/receiving/inbound/answered.ts'
import { examineLinks } from '../src/sending/analysis/links.ts'
import { readPage } from '../src/sending/analysis/page.ts'
import { createRelayCounters } from '../src/sending/outbound/relays/relay-counters.ts'
import { createTranscript } from '../src/sending/outbound/smtp/transcript.ts'
import { createFakeClock } from './support/fake-clock.ts'

/** Texts of strangers and users of which the beginning is stored, shown or posted: half of a character is no text, and
 *  programs such as PHP refuse the JSON that contains it. */

const ANSWERED = { deliveryId: 'dlv_1', to: 'a@b.example', metadata: {}, tags: [] }
const shownOf: Record<string, (text: string) => string | null | undefined | Promise<string>> = {
  'the diagnostic of a report': diagnosticText,
  'the words of a report': (text) => {
    const raw = Buffer.from(`Content-Type: text/plain; charset=utf-8\r\n\r\n${`${text.slice(0, 600)}\r\n`.repeat(5)}`)
    return reportContext(readParts(raw), []).words
  },
  'the type of a complaint': (feedbackType) =>
    judgeComplaint({ userAgent: null, feedbackType } as never, 0).report.feedbackType,
  'the author of a report': (reporter) => onlyKept({ kind: 'complaint', reporter }).report.reporter,
  'the author of an answer': (text) => {
    const received = { from: `${text}@author.example`, receivedAt: 0, id: 'inb_1', autoSubmitted: false }
    return JSON.parse(repliedEvent(received as never, ANSWERED as never, () => 'evt_1')!.event.body).data.from
  },
  'a line of a transcript': (text) => {
    const transcript = createTranscript(() => 0)
    transcript.server(text)
    return transcript.text()
  },
  'the last error of a relay': async (message) => {
    const written: RelayCount[] = []
    const store = { relays: { count: async (counts: RelayCount[]) => void written.push(...counts) } }
    const counters = createRelayCounters({ store: store as never, clock: createFakeClock(1) })
    counters.count('relay', { kind: 'deferred', code: '451', message } as never)
    await counters.flush()
    return written[0]!.lastError!.message
  },
  'the address of a link': (text) => examineLinks(readPage(`<a href="https://a.example/${text}">x</a>`), '')[0]!.url,
  'the text of a link': (text) => examineLinks(readPage(`<a href="https://a.example/">${text}</a>`), '')[0]!.text,
}

test.each(Object.entries(shownOf))('%s ends with a whole character', async (_, shown) => {
  for (const start of ['', 'x']) {
    const whole = `${start}${'\u{1f600}'.repeat(20_000)}`
    const text = await shown(whole)
    expect([text?.length, text?.isWellFormed()]).toEqual([expect.any(Number), true])
    expect(text!.length).toBeLessThan(whole.length)
  }
})
