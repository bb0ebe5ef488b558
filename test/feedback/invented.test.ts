import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isGone } from '../../src/mail/bounce-class.ts'
import { createReplyReader } from '../../src/mail/reply.ts'
import type { Cause, Delivery } from '../../src/model/delivery.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import { judgeReport } from '../../src/receiving/feedback/judge.ts'
import { lateBounce, outcomeOf } from '../../src/sending/outbound/outcome.ts'
import type { Stage } from '../../src/sending/outbound/smtp/reply.ts'

/** Replies and notices in the words of many servers, with what they say: `address` and `domain` are hard, all others
 *  soft. `replies` and `notices` are older than the table of refusals (mail/bounce-rules.txt), `worked-on` grew with it,
 *  and the texts of providers were labelled before anything of the table was read. */
const FOLDER = join(import.meta.dir, '../fixtures/bounces')
const HARD = new Set(['address', 'domain'])

interface Case {
  says: string
  text: string
  /** `hard`, `soft` or, for no bounce, `none`. */
  found: string
  /** Whether the class says that the address or its domain does not exist. */
  isGone: boolean
}

const repliesIn = (file: string) => readFileSync(join(FOLDER, file), 'utf8').trim().split('\n').map(replyCase)
const noticesIn = (file: string) => readFileSync(join(FOLDER, file), 'utf8').split(/^=== /m).slice(1).map(noticeCase)
const notices = [...noticesIn('notices.txt'), ...noticesIn('providers-notices.txt')]

function replyCase(line: string): Case {
  const [says, at, text] = line.split('\t') as [string, Stage | 'data', string]
  const lines = text.split('\\n')
  const raw = lines.map(
    (each, index) => `${each.slice(0, 3)}${index < lines.length - 1 ? '-' : ' '}${each.slice(4)}\r\n`,
  )
  const reply = createReplyReader().push(raw.join(''))[0]!
  const outcome = outcomeOf({ kind: 'reply', stage: at === 'data' ? 'content' : at, reply }, 'mx.dest.test')
  const cause = 'cause' in outcome ? outcome.cause : undefined
  return { says, text, found: outcome.kind === 'bounced' ? outcome.bounceType : 'soft', isGone: isGoneBy(cause) }
}

/** The first line says what the notice means and how it is marked as automatic; the second is the subject. */
function noticeCase(part: string): Case {
  const [head = '', subject = '', ...body] = part.split('\n')
  const [says = '', automatic] = head.split(' ')
  const raw = [
    `From: ${says === 'none' ? 'ann.lee' : 'MAILER-DAEMON'}@dest.test`,
    `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
    ...(automatic === undefined ? [] : [`Auto-Submitted: ${automatic}`]),
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...body,
  ].join('\r\n')
  const delivery = { status: 'delivered', attempts: 1, email: 'ann.lee@dest.test' } as Delivery
  const { change, event, report } = judgeReport(readReport(Buffer.from(raw), ''), 'bounce', 0, delivery, lateBounce)
  const found = change?.bounceType ?? (event?.type === 'message.deferred' ? 'soft' : 'none')
  return { says, text: part, found, isGone: isGoneBy(report.cause) }
}

function isGoneBy(cause: Cause | null | undefined): boolean {
  return cause !== null && cause !== undefined && isGone(cause)
}

const expected = ({ says }: Case) => (says === 'none' ? 'none' : HARD.has(says) ? 'hard' : 'soft')
const wrong = (cases: readonly Case[], kind: string) =>
  cases.filter((each) => expected(each) === kind && each.found !== kind).map(({ text }) => text)
const most = (cases: readonly Case[], kind: string, share: number) =>
  Math.floor(cases.filter((each) => expected(each) === kind).length * share)

describe.each([
  ['replies', repliesIn('replies.tsv')],
  ['notices', notices],
  ['replies of the work on the table', repliesIn('worked-on.tsv')],
  ['replies of providers', repliesIn('providers.tsv')],
])('of the invented %s', (_, cases) => {
  test('95 of 100 that say that the address or its domain does not exist are hard', () => {
    expect(wrong(cases, 'hard').length, wrong(cases, 'hard').join('\n')).toBeLessThanOrEqual(most(cases, 'hard', 0.05))
  })

  test('99 of 100 about us, the mailbox, the mail, a policy or a passing state are soft', () => {
    expect(wrong(cases, 'soft').length, wrong(cases, 'soft').join('\n')).toBeLessThanOrEqual(most(cases, 'soft', 0.01))
  })
})

test('no class of an invented text contradicts the type of its bounce', () => {
  const cases = [...['replies.tsv', 'worked-on.tsv', 'providers.tsv'].flatMap(repliesIn), ...notices]
  expect(cases.filter(({ found, isGone }) => isGone !== (found === 'hard')).map(({ text }) => text)).toEqual([])
})

test('of the invented notices, none that is no bounce becomes one', () => {
  expect(notices.some((each) => expected(each) === 'none')).toBe(true)
  expect(wrong(notices, 'none')).toEqual([])
})
