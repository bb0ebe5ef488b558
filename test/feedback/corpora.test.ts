import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Delivery } from '../../src/model/delivery.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import { judgeReport } from '../../src/receiving/feedback/judge.ts'
import { lateBounce } from '../../src/sending/outbound/outcome.ts'

/** Reports of about 80 mail systems, each as if sent from the null return path to the tagged address of its
 *  recipient. They are outside the checkout. */
const FOLDER = join(import.meta.dir, '../../../shared/corpora/bounces')
const isThere = existsSync(join(FOLDER, 'expected.jsonl'))
if (!isThere) console.warn(`skipped: no collection of reports in ${FOLDER}`)

interface Row {
  file: string
  recipient: string
  /** `hard`, `soft`, `none` or `complaint:<type>`. */
  expected: string
}

/** Where we differ from the expectation, and why. The files come in several forms: `bsd-`, `dos-` and `mac-` line
 *  ends. */
const DISAGREED: readonly [file: RegExp, why: string][] = [
  [/lhost-activehunter-02|lhost-x1-0[12]|lhost-apachejames-01/, 'it says plainly that the user is unknown'],
  [/rfc3464-42|rfc3464-66/, 'it says that the account does not exist'],
  [/lhost-messagingserver-06|lhost-sendmail-02/, '5.2.1 with "User unknown", hard in other rows'],
  [
    /lhost-messagingserver-03|lhost-sendmail-48/,
    '5.7.1 with "User unknown": the words say plainly what the code does not',
  ],
  [/lhost-zoho-03/, '"Invalid Address" and "mailbox unavailable" without any other reason'],
  [/lhost-sendmail-14/, 'a person forwarded the report, so nothing proves it'],
  [/lhost-sendmail-27/, 'the 503 behind it shows that RCPT was refused, not DATA'],
  [/lhost-exim-30/, '"Access denied" says nothing about the mailbox'],
  [/lhost-exim-31/, '"may not exist, may be blacklisted, may lack DNS entries" is no certainty'],
  [/lhost-exim-37/, 'the domain that does not exist is not that of the recipient'],
  [/lhost-trendmicro-02/, 'it names no reason'],
  [/arf-26/, 'a request to unsubscribe, which is no complaint'],
  [/^mac-.*|issue-106-02/, 'the report names another address than the row: never hard'],
]

const DELIVERED = { status: 'delivered', attempts: 1 }

function read({ file, recipient }: Row): string {
  const content = readReport(readFileSync(join(FOLDER, file)), '')
  const delivery = { ...DELIVERED, email: recipient } as Delivery
  const { change, event } = judgeReport(content, 'bounce', 0, delivery, lateBounce)
  if (content.kind === 'complaint') return `complaint:${content.complaint.feedbackType}`
  if (change !== null) return change.bounceType
  return event?.type === 'message.deferred' ? 'soft' : 'none'
}

describe.skipIf(!isThere)('reports of the collection', () => {
  const rows = isThere
    ? readFileSync(join(FOLDER, 'expected.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
        .map((row) => ({ ...row, found: read(row) }))
    : []
  const isAgreed = ({ file, expected, found }: (typeof rows)[number]) =>
    expected === found || DISAGREED.some(([pattern]) => pattern.test(file))

  test('are read as expected, except those that contradict the table of refusals', () => {
    expect(rows.filter((row) => !isAgreed(row))).toEqual([])
  })

  test('contradict it in at most 9 of 100', () => {
    expect(rows.filter(({ expected, found }) => expected !== found).length / rows.length).toBeLessThanOrEqual(0.09)
  })

  test('that are not bounces become none', () => {
    expect(rows.filter(({ expected, found }) => expected === 'none' && found !== 'none')).toEqual([])
  })
})
