import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { classifyReply } from '../../src/mail/bounce-class.ts'
import { createReplyReader, formatReply, parseReplyLine, ReplyFault } from '../../src/mail/reply.ts'
import { outcomeOf } from '../../src/sending/outbound/outcome.ts'
import { runs } from './runs.ts'

/** Server replies: any bytes become replies or a fault, and each reply an outcome. */

const binary = fc.string({ unit: 'binary', maxLength: 400 })

describe('replies of servers', () => {
  const line = fc.oneof(
    binary,
    fc
      .tuple(
        fc.integer({ min: 190, max: 610 }),
        fc.constantFrom(' ', '-', '', '\t'),
        fc.constantFrom('', '5.1.1 ', '4.2.2 ', '5.7.1', '5.999.999 '),
        fc.string({ maxLength: 40 }),
      )
      .map((parts) => parts.join('')),
  )
  const talk = fc.array(line, { maxLength: 12 }).map((lines) => `${lines.join('\r\n')}\r\n`)

  test('are parsed or are a fault, however they are split, and a fault stays one', () => {
    const run = fc.property(
      talk,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      (text, sizes) => {
        expect(heard(text, sizes)).toEqual(heard(text, [text.length]))
      },
    )
    fc.assert(run, runs({ target: 'replies', property: 'cut-anywhere' }, 1_000, 12))
  })

  test('are classified with an outcome, in one printable line', () => {
    const run = fc.property(line, fc.constantFrom('greeting', 'mail', 'rcpt', 'data', 'content'), (text, stage) => {
      const parsed = parseReplyLine(text)
      if (parsed === null) return
      const { isLast: _, ...reply } = parsed
      expect(classifyReply(reply).class).toBeString()
      expect(formatReply(reply)).not.toMatch(/[\x00-\x1f\x7f]/)
      const outcome = outcomeOf({ kind: 'reply', stage: stage as 'rcpt', reply }, 'mx.example')
      expect(['delivered', 'deferred', 'bounced']).toContain(outcome.kind)
      if (outcome.kind === 'delivered') expect([stage, Math.floor(reply.code / 100)]).toEqual(['content', 2])
    })
    fc.assert(run, runs({ target: 'replies', property: 'outcome' }, 1_000, 13))
  })
})

/** Replies and the fault at their end, from text in pieces. */
function heard(text: string, sizes: readonly number[]): unknown[] {
  const reader = createReplyReader({ maxBytes: 2_000 })
  const found: unknown[] = []
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length]!
    try {
      found.push(...reader.push(text.slice(at, at + size)))
    } catch (error) {
      if (!(error instanceof ReplyFault)) throw error
      expect(() => reader.push('250 ok\r\n')).toThrow(error)
      return [...found, ...error.replies, error.reason]
    }
    at += size
  }
  return found
}
